//! The plots of a report.

use std::path::Path;

use anyhow::Context;

use crate::papers::Figure;
use crate::plot::Plot;
use crate::report::Report;

/// Writes each plot to a file of its own, named after its figure and title.
pub fn write<'a>(
    report: &Report,
    figures: impl Iterator<Item = &'a Figure>,
    directory: &Path,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    for figure in figures {
        for plot in plots(report, figure) {
            let file = directory.join(file_name(&figure.title, &plot.title));
            std::fs::write(&file, plot.svg()?)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
    }
    Ok(())
}

/// A name like `ping-pong-latency-putmem-and-wait.svg`: words and hyphens, whatever the titles
/// contain.
fn file_name(figure: &str, plot: &str) -> String {
    let text = format!("{figure} {plot}").to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-") + ".svg"
}

/// The plots of a figure that have data.
pub fn plots(report: &Report, figure: &Figure) -> Vec<Plot> {
    let panels = figure.parts.iter().flat_map(|part| part.panels());
    panels.map(|panel| panel.plot(report)).filter(Plot::is_worthwhile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_what_they_show() {
        let name = file_name("Ping-pong", "Latency: putmem and wait");
        assert_eq!(name, "ping-pong-latency-putmem-and-wait.svg");
        assert_eq!(file_name("Starting", "/bin/true"), "starting-bin-true.svg");
    }
}
