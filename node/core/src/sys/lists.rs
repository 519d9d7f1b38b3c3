//! Lists of numbers as the kernel writes them for CPUs and NUMA nodes, and people for options: `0-3,8`.

/// More CPUs and nodes than the kernel knows.
const MOST: usize = 1 << 20;

/// The numbers in a list of numbers below `end` and ranges of them, ascending and without duplicates.
///
/// # Errors
/// The part of the list that is neither.
pub fn numbers(list: &str, end: usize) -> Result<Vec<usize>, &str> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number < end);
    let mut numbers: Vec<usize> = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => numbers.extend(first..=last),
            _ => return Err(part),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The numbers in the contents of a file of the kernel, which may be none; `None` if it is no list.
pub fn of_file(contents: &str) -> Option<Vec<usize>> {
    match contents.trim() {
        "" => Some(Vec::new()),
        list => numbers(list, MOST).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_in_order() {
        for (list, expected) in
            [("0", &[0][..]), ("0-3,8,10-11", &[0, 1, 2, 3, 8, 10, 11]), ("8, 2-3,3", &[2, 3, 8])]
        {
            assert_eq!(numbers(list, 12), Ok(expected.to_vec()), "{list}");
            assert_eq!(of_file(&format!("{list}\n")), Some(expected.to_vec()), "{list}");
        }
        assert_eq!(of_file("\n"), Some(vec![]));
    }

    #[test]
    fn the_wrong_part_is_named() {
        for (list, wrong) in
            [("", ""), ("1,", ""), ("1,x", "x"), ("3-2", "3-2"), ("0-12", "0-12"), ("-1,2", "-1")]
        {
            assert_eq!(numbers(list, 12), Err(wrong), "{list}");
        }
        assert_eq!(of_file("0-x"), None);
        assert_eq!(of_file("0-18446744073709551615"), None);
    }
}
