//! The screen: a summary, a table of PEs, and the keys.

use super::events::Key;
use oneshmem_tools::live::{COLUMNS, Line, Sample};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Text;
use ratatui::widgets::{Paragraph, Row, Table, Wrap};

/// A PE's number, or those of several; calls, bytes, heap, CPU, blocked.
const WIDTHS: [u16; 6] = [10, 8, 8, 7, 6, 7];

/// The view of a job.
pub struct View {
    pid: u32,
    sample: Option<Sample>,
    /// Whether PEs in the same state share a line.
    together: bool,
    /// The first line of the table that is shown.
    first: usize,
    /// How many lines the table has, and has room for.
    lines: usize,
    room: usize,
}

impl View {
    /// Of the job with this process.
    pub fn new(pid: u32) -> Self {
        Self { pid, sample: None, together: false, first: 0, lines: 0, room: 1 }
    }

    /// Shows these PEs from now on.
    pub fn take(&mut self, sample: Sample) {
        self.sample = Some(sample);
    }

    /// Does what a key says. Returns whether it ends the view.
    pub fn is_left_by(&mut self, key: Key) -> bool {
        self.first = match key {
            Key::Quit => return true,
            Key::Group => {
                self.together = !self.together;
                0
            }
            Key::Up => self.first.saturating_sub(1),
            Key::Down => self.first + 1,
            Key::PageUp => self.first.saturating_sub(self.room),
            Key::PageDown => self.first + self.room,
        };
        false
    }

    /// Draws it.
    pub fn draw(&mut self, frame: &mut Frame) {
        let Some(sample) = &self.sample else { return };
        let note = match sample.is_counted() {
            true => "",
            false => "\ncalls are not counted: oshrun --top=0, or SHMEM_STATS=1, counts them",
        };
        let head = format!("job of process {}: {}{note}", self.pid, sample.summary());
        // Lines are wrapped at blanks, so a line may need one row more; else that stays empty.
        let width = usize::from(frame.area().width.max(1));
        let rows: usize = head.lines().map(|line| line.len().div_ceil(width)).sum();
        let head = Paragraph::new(head).wrap(Wrap { trim: true });
        let parts =
            [Constraint::Length(rows as u16 + 1), Constraint::Min(2), Constraint::Length(1)];
        let [above, middle, below] = Layout::vertical(parts).areas(frame.area());
        frame.render_widget(head, above);

        let lines = sample.lines(self.together);
        (self.lines, self.room) =
            (lines.len(), usize::from(middle.height.saturating_sub(1)).max(1));
        self.first = self.first.min(self.lines.saturating_sub(self.room));
        let shown = lines.iter().skip(self.first).take(self.room).map(row);
        let title = cells(COLUMNS.map(String::from));
        let widths = WIDTHS.map(Constraint::Length).into_iter().chain([Constraint::Min(10)]);
        let title = title.style(Style::new().add_modifier(Modifier::BOLD));
        frame.render_widget(Table::new(shown, widths).header(title), middle);

        let last = (self.first + self.room).min(self.lines);
        let place = format!("{} to {last} of {} lines", self.first + 1, self.lines);
        let group = if self.together { "g: a line for each PE" } else { "g: same states together" };
        let keys = format!("q: quit, the job goes on   {group}   arrows, space: scroll   {place}");
        frame.render_widget(Paragraph::new(keys).style(Style::new().fg(Color::DarkGray)), below);
    }
}

fn row(line: &Line) -> Row<'static> {
    let [operations, bytes, heap, cpu, blocked] = line.doing.cells();
    let row = cells([line.pes.clone(), operations, bytes, heap, cpu, blocked, line.state.clone()]);
    if line.waits { row.style(Style::new().fg(Color::Yellow)) } else { row }
}

/// Numbers to the right, the state to the left.
fn cells(cells: [String; 7]) -> Row<'static> {
    let [figures @ .., state] = cells;
    Row::new(
        figures.map(|it| Text::from(it).right_aligned()).into_iter().chain([Text::from(state)]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use onenode_core::atomics::Ordering;
    use oneshmem_job::jobfile::JobFile;
    use oneshmem_tools::live::Live;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::sync::Arc;

    /// The rows of a screen of this height after these keys, for a job of four PEs that have not begun, but one.
    fn screen(height: u16, keys: &[Key]) -> Vec<String> {
        let file = Arc::new(JobFile::create(4).expect("a job's file"));
        file.member(2).programs.store(1, Ordering::Relaxed);
        let mut view = View::new(7);
        view.take(Live::attached(file).sample(None).expect("a sample"));
        let mut terminal = Terminal::new(TestBackend::new(100, height)).expect("a screen");
        let mut draw = |view: &mut View| drop(terminal.draw(|frame| view.draw(frame)));
        draw(&mut view);
        for key in keys {
            assert!(!view.is_left_by(*key));
            draw(&mut view);
        }
        let buffer = terminal.backend().buffer();
        let row = |y| (0..100).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| row(y).trim_end().to_owned()).collect()
    }

    #[test]
    fn a_screen_has_a_summary_a_table_and_keys() {
        let rows = screen(12, &[]);
        let head = "job of process 7: 4 PEs: 3 before shmem_init, 1 in shmem_init, heap 0, CPU -";
        assert_eq!(rows[0], head);
        assert!(rows[1].starts_with("calls are not counted"));
        assert_eq!(rows[3], "        PE  calls/s  bytes/s    heap    CPU blocked state");
        assert_eq!(
            rows[4],
            "         0        -        -       0      -       - has not called shmem_init"
        );
        assert_eq!(rows[6], "         2        -        -       0      -       - in shmem_init");
        assert!(rows[11].starts_with("q: quit") && rows[11].ends_with("1 to 4 of 4 lines"));
    }

    #[test]
    fn the_table_scrolls_and_groups() {
        let rows = screen(7, &[Key::Down, Key::PageDown]);
        assert!(rows[4].trim_start().starts_with('2'), "{rows:?}");
        assert!(rows[6].ends_with("3 to 4 of 4 lines"), "{rows:?}");
        let rows = screen(7, &[Key::Down, Key::PageUp]);
        assert!(rows[6].ends_with("1 to 2 of 4 lines"), "{rows:?}");
        let rows = screen(12, &[Key::Group]);
        assert!(rows[4].starts_with("    0-1, 3 "), "{rows:?}");
        assert!(rows[11].ends_with("1 to 2 of 2 lines"), "{rows:?}");
        assert!(View::new(7).is_left_by(Key::Quit));
    }
}
