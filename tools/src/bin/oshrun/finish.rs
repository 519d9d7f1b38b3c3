//! The contents of frames about the job's end.

use super::report::ReportScope;
use onenode_core::text::whole_characters;
use oneshmem_job::codec;
use oneshmem_job::jobfile::abort;

/// Encodes the abort word and a message for the user.
pub fn ending(word: u64, message: &str) -> Vec<u8> {
    // A message can be long if many PEs have states to report.
    const MOST: usize = 256 << 10;
    let end = whole_characters(message, MOST);
    codec::encode(&(word, &message[..end]))
}

/// Decodes the abort word and the message.
pub fn ending_of(bytes: &[u8]) -> Option<(u64, String)> {
    codec::decode(bytes).filter(|(word, _)| abort::decode(*word).is_some())
}

/// Encodes whose states to report as a number.
pub fn whose_number(whose: Option<ReportScope>) -> u32 {
    match whose {
        None => 0,
        Some(ReportScope::Waiting) => 1,
        Some(ReportScope::All) => 2,
    }
}

/// Decodes whose states to report.
pub fn whose(number: u32) -> Option<ReportScope> {
    [None, Some(ReportScope::Waiting), Some(ReportScope::All)]
        .get(number as usize)
        .copied()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_job::jobfile::abort::AbortKind;

    #[test]
    fn an_end_survives_the_way() {
        let word = abort::encode(AbortKind::GlobalExit, 3, -7);
        assert_eq!(ending_of(&ending(word, "why")), Some((word, "why".into())));
        let long = "ä".repeat(1 << 20);
        assert!(ending(word, &long).len() <= (256 << 10) + 16);
        for all in [None, Some(ReportScope::Waiting), Some(ReportScope::All)] {
            assert!(whose(whose_number(all)) == all);
        }
    }

    #[test]
    fn an_end_without_a_cause_is_none() {
        assert_eq!(ending_of(b"1234567"), None);
        assert_eq!(ending_of(&ending(0, "why")), None);
        assert!(whose(3).is_none() && whose(u32::MAX).is_none());
    }
}
