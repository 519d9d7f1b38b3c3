//! Figures of the paper on address mapping.

use std::path::Path;

use oneshmem_plots::plot::Axis;

use super::{Content, Figure, Setting};
use crate::curves::{Panel, Shows};
use crate::implementation::Implementation;

/// Each way to map memory that there is here, and the peers.
fn mappings(setting: &Setting) -> Vec<Implementation> {
    let mut who = vec![setting.own_with("memfd", &[("SHMEM_BACKEND", "memfd")])];
    if Path::new("/dev/xpmem").exists() {
        who.push(setting.own_with("XPMEM", &[("SHMEM_BACKEND", "xpmem")]));
    }
    who.extend(setting.smartmap.clone());
    who.extend(setting.peers());
    who
}

/// All of them.
pub fn figures(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    let who = mappings(setting);
    let absent = match (Path::new("/dev/xpmem").exists(), &setting.smartmap) {
        (true, Some(_)) => String::new(),
        (xpmem, smartmap) => {
            let mut words = Vec::new();
            if !xpmem {
                words.push("XPMEM (there is no /dev/xpmem; make bench-xpmem measures it in a virtual machine)");
            }
            if smartmap.is_none() {
                words.push("SMARTMAP's addresses (make smartmap builds that library)");
            }
            format!(" Not here: {}.", words.join("; "))
        }
    };
    let sizes = setting.sizes(4 << 20);
    let each = [format!("each={}", setting.by(1000, 1000, 50))];
    let pingpong =
        || vec![setting.raw("flags", 2, sizes, &each), setting.job("pingpong", 2, sizes, &each)];
    // The runs add up to the paper's iterations. A pass over a large cache takes most of their time.
    let repeats = setting.repeats;
    let iterations = setting.by(4096usize.div_ceil(repeats), 16, 2);
    let rates = (8, setting.by(64 << 10, 64 << 10, 512), setting.by(4, 4, 8));
    let cache = crate::machine::last_cache().unwrap_or(8 << 20);
    let more = [format!("iters={iterations}"), format!("cache={cache}")];
    let everybody = setting.everybody();
    Ok(vec![
        Figure {
            title: "Latency of put over message size".into(),
            caption: format!(
                "Half of a round trip between 2 PEs, of putmem and a wait. Each of {} messages is \
                 timed; the curve is their mean, and the bars go from the least to the largest, cut where \
                 they would be ten times longer than the curves.{absent}",
                setting.by(1000, 1000, 50)
            ),
            published: "",
            content: Content::Measured {
                who: who.clone(),
                groups: vec![pingpong()],
                panels: vec![
                    Panel::of("pingpong.put", "putmem and wait", Axis::Bytes).showing(Shows::Mean),
                    Panel::of("pingpong.put_signal", "put with signal and wait", Axis::Bytes)
                        .showing(Shows::Mean),
                ],
            },
        },
        Figure {
            title: "Bandwidth of put over message size".into(),
            caption: format!(
                "The message size over half of the round trip of the same ping-pong; and put \
                 in one direction, in windows of up to 64 that end with quiet.{absent}"
            ),
            published: "",
            content: Content::Measured {
                who: who.clone(),
                groups: vec![
                    pingpong(),
                    (vec![
                        setting.raw("copies", 2, sizes, &[]),
                        setting.job("bandwidth", 2, sizes, &[]),
                    ]),
                ],
                panels: vec![
                    Panel::of("pingpong.put", "ping-pong", Axis::Bytes).showing(Shows::Bandwidth),
                    Panel::of("bandwidth.put", "one direction", Axis::Bytes),
                    Panel::of("bandwidth.put_both", "both directions at once", Axis::Bytes),
                ],
            },
        },
        Figure {
            title: format!("Message rate of {everybody} PEs"),
            caption: format!(
                "The Sandia message-rate test: each PE puts 128 messages to each of six peers (fewer \
                 where there are fewer PEs), {iterations} times in each of {repeats} runs, after a pass over {} MiB, as much as the last \
                 cache holds, that is not timed. The mean rate of a PE; bars over the iterations.{absent}",
                cache >> 20
            ),
            published: "",
            content: Content::Measured {
                who,
                groups: vec![
                    (vec![
                        setting.raw("rates", everybody, rates, &more),
                        setting.job("msgrate", everybody, rates, &more),
                    ]),
                ],
                panels: vec![
                    Panel::of("msgrate.put", "messages a second and PE", Axis::Bytes)
                        .showing(Shows::Mean),
                ],
            },
        },
    ])
}
