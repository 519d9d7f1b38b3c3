use super::*;
use proptest::prelude::*;

fn spec(text: &str) -> Spec {
    parse::spec(3, text).unwrap_or_else(|why| panic!("{text:?}: {why}"))
}

fn plain() -> Spec {
    Spec {
        id: 3,
        bytes: 2 << 30,
        kind: Kind::Normal,
        pages: Pages::Normal,
        policy: Policy::Preferred,
        nodes: Vec::new(),
        device: None,
        path: None,
    }
}

#[test]
fn texts_are_understood() {
    for text in
        ["2G", "size=2g", " SIZE=2048M ", "2g:kind=n", "2G:KIND=NORMALMEM:POLICY=P", "2g:pgsize=4k"]
    {
        assert_eq!(spec(text), plain(), "{text}");
    }
    for (text, expected) in [
        ("2G:KIND=LIBOMP", Spec { kind: Kind::OpenMp, ..plain() }),
        ("KIND=F:SIZE=2G", Spec { kind: Kind::Fast, ..plain() }),
        ("2G:KIND=hbm", Spec { kind: Kind::Hbm, policy: Policy::Mandatory, ..plain() }),
        ("2G:KIND=HBM:POLICY=i", Spec { kind: Kind::Hbm, policy: Policy::Interleaved, ..plain() }),
        ("2G:PGSIZE=2M", Spec { pages: Pages::Explicit(2 << 20), ..plain() }),
        ("2G:PGSIZE=thp", Spec { pages: Pages::Transparent, ..plain() }),
        ("2G:NODES=3, 0-1,1", Spec { nodes: vec![0, 1, 3], ..plain() }),
        (
            "2G:KIND=CUDA:DEVICE=Spread",
            Spec { kind: Kind::Cuda, device: Some(Device::Spread), ..plain() },
        ),
        (
            "2G:KIND=libomp:device=1",
            Spec { kind: Kind::OpenMp, device: Some(Device::Number(1)), ..plain() },
        ),
        (
            "2G:KIND=FILE:path=/a:b=c/%p",
            Spec { kind: Kind::File, path: Some("/a:b=c/%p".into()), ..plain() },
        ),
    ] {
        assert_eq!(spec(text), expected, "{text}");
    }
}

#[test]
fn a_text_of_partitions_can_be_read_again() {
    let specs: Vec<Spec> = [
        "2G",
        "4096:KIND=HBM:POLICY=i",
        "1M:PGSIZE=2M:NODES=0-1,3",
        "1M:PGSIZE=THP:KIND=F",
        "5M:KIND=LIBOMP:DEVICE=1",
        "1M:KIND=CUDA:DEVICE=spread",
        "3K:KIND=FILE:PATH=/a:b=c/ d%p",
    ]
    .map(spec)
    .into();
    assert_eq!(specs_of(&text(&specs)), Some(specs));
    assert_eq!(specs_of(""), Some(Vec::new()));
    for wrong in ["1M", "x SIZE=1", "1 SIZE=1:KIND=SLOW"] {
        assert_eq!(specs_of(wrong), None, "{wrong}");
    }
}

#[test]
fn mistakes_are_told() {
    for (text, why) in [
        ("", "SIZE is \"\"; expected a size"),
        ("KIND=N", "SIZE is missing"),
        ("0", "SIZE is 0"),
        ("2T", "SIZE is \"2T\"; expected at most 1024 GiB"),
        ("big", "SIZE is \"big\"; expected a size, for example 512M"),
        (
            "2G:KIND=LIBOM",
            "KIND is \"LIBOM\"; expected NORMALMEM, FASTMEM, HBM, FILE, LIBOMP or CUDA",
        ),
        ("2G:POLICY=STRICT", "expected MANDATORY, PREFERRED or INTERLEAVED"),
        ("2G:POLICY=M:POLICY=M", "POLICY is given twice"),
        ("2G:size=1G", "SIZE is given twice"),
        ("2G:PGSIZE=3K", "PGSIZE is \"3K\"; expected 4K, 2M, 1G or THP"),
        ("2G:NODES=2-1", "NODES is \"2-1\""),
        ("2G:NODES=", "NODES is \"\""),
        ("2G:NODES=1024", "NODES is \"1024\""),
        ("2G:KIND=F:NODES=1", "NODES is for KIND=NORMALMEM only, not for FASTMEM"),
        ("2G:DEVICE=0", "DEVICE is for KIND=LIBOMP or CUDA only, not for NORMALMEM"),
        ("2G:KIND=CUDA:DEVICE=-1", "DEVICE is \"-1\""),
        ("2G:PATH=x", "PATH is for KIND=FILE only"),
        ("2G:KIND=FILE", "PATH is missing"),
        ("2G:KIND=FILE:PATH=", "PATH is missing"),
        ("2G:COLOR=red", "\"COLOR\" is not known; expected SIZE, KIND"),
        ("2G:THP", "\"THP\" is no trait"),
        ("2G:", "\"\" is no trait"),
    ] {
        let told = parse::spec(3, text).expect_err(text);
        assert!(told.contains(why), "{text:?}: {told}");
    }
}

#[test]
fn a_difference_is_told_in_words() {
    let (two, one) = (plain(), Spec { bytes: 1 << 30, ..plain() });
    let (ours, theirs) = (text(&[two]), text(&[one]));
    assert_ne!(number(&ours), number(&theirs));
    assert_eq!(number(&text(&[])), 0);
    let told = difference(&theirs, &ours);
    assert!(told.starts_with("partition 3 is SIZE=1073741824:"), "{told}");
    assert!(told.contains("this PE's is SIZE=2147483648:"), "{told}");
    assert!(difference("", &ours).starts_with("partition 3 is not there"));
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let kind = prop::sample::select(Kind::ALL.to_vec());
    let policy = prop::sample::select(Policy::ALL.to_vec());
    let pages =
        prop::sample::select(vec![Pages::Normal, Pages::Transparent, Pages::Explicit(2 << 20)]);
    let nodes = prop::collection::btree_set(0usize..1024, 0..5);
    let device = prop_oneof![
        Just(Device::Default),
        Just(Device::Spread),
        (0u32..99).prop_map(Device::Number)
    ];
    let path = "[ -~]{0,10}%p";
    (1usize..1 << 40, kind, policy, pages, nodes, device, path).prop_map(
        |(bytes, kind, policy, pages, nodes, device, path)| {
            let is_memory = !matches!(kind, Kind::File | Kind::Cuda);
            let is_device = matches!(kind, Kind::OpenMp | Kind::Cuda);
            Spec {
                id: 3,
                bytes,
                kind,
                pages: if is_memory { pages } else { Pages::Normal },
                policy: if is_memory { policy } else { Policy::Preferred },
                nodes: nodes.into_iter().filter(|_| kind == Kind::Normal).collect(),
                device: is_device.then_some(device),
                path: (kind == Kind::File).then_some(path),
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(spec in any_spec()) {
        // The policy is written only for kinds that can have one.
        let text = match spec.kind {
            Kind::File | Kind::Cuda => spec.to_string().replacen(":POLICY=PREFERRED", "", 1),
            _ => spec.to_string(),
        };
        prop_assert_eq!(parse::spec(3, &text), Ok(spec));
    }

    #[test]
    fn any_text_has_an_answer(text in "([A-Za-z0-9=,.%/ -]{0,8}:){0,5}[ -~]{0,8}") {
        if let Ok(spec) = parse::spec(3, &text) {
            prop_assert!(spec.bytes > 0 && spec.bytes <= LIMIT);
        }
    }
}
