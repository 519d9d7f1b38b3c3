use super::svg::Picture;
use super::*;

fn row(bytes: &[u64]) -> Row {
    let cell = |bytes: &u64| Peer { calls: (*bytes > 0).into(), bytes: *bytes };
    Row { counted: true, cells: bytes.iter().map(cell).collect() }
}

fn matrix(sizes: &[usize], most: usize, rows: &[Option<&[u64]>]) -> Matrix {
    let mut matrix = Matrix::new(Grid::new(sizes, most));
    assert_eq!(matrix.rows.len(), rows.len());
    matrix.rows = rows.iter().map(|bytes| bytes.map(row)).collect();
    matrix
}

#[test]
fn cells_stand_for_pes_or_groups_of_them() {
    let matrix_of_2 = matrix(&[2], 256, &[Some(&[0, 7]), Some(&[9, 1])]);
    let svg = Picture { matrix: &matrix_of_2, program: "a<b" }.svg();
    // Three cells, and two totals.
    assert_eq!(svg.matches("<title>").count(), 5);
    assert!(
        svg.contains(">a&lt;b: bytes moved") && svg.contains(">2 PEs, 17 B in 3 calls in total<")
    );
    assert!(svg.contains("PE 1 to all: 10 B in 2 calls"));
    // The totals of rows and of columns.
    for sum in [">7 B<", ">10 B<", ">9 B<", ">8 B<"] {
        assert!(svg.contains(sum), "{sum}");
    }
    assert_eq!(matrix_of_2.csv(), "caller,peer,calls,bytes\n0,1,1,7\n1,0,1,9\n1,1,1,1\n");
    assert!(svg.contains("PE 0 to PE 1: 7 bytes in 1 calls"));
    // A grid, and one node.
    assert!(svg.contains("id=\"grid\" d=\"M70 390.00H710M390.00 70V710\""));
    assert!(
        svg.contains("id=\"nodes\" d=\"\"") && !svg.contains("orange") && !svg.contains("unknown")
    );
    let large = matrix(&[300], 2, &[Some(&[0, 7]), Some(&[9, 1])]);
    let svg = Picture { matrix: &large, program: "p" }.svg();
    assert!(svg.contains("PE 0 to 149 to PE 150 to 299: 7 bytes in 1 calls"));
}

#[test]
fn a_cell_has_pes_of_one_node_only() {
    let cells = |sizes: &[usize], most| {
        let grid = Grid::new(sizes, most);
        assert_eq!(grid.npes(), sizes.iter().sum());
        (grid.pes.clone(), (0..grid.cells()).map(|cell| grid.node_of(cell)).collect::<Vec<_>>())
    };
    assert_eq!(cells(&[3, 2], 5), (vec![0..1, 1..2, 2..3, 3..4, 4..5], vec![0, 0, 0, 1, 1]));
    assert_eq!(cells(&[3, 2], 4), (vec![0..2, 2..3, 3..5], vec![0, 0, 1]));
    assert_eq!(cells(&[3, 2, 1], 1), (vec![0..3, 3..5, 5..6], vec![0, 1, 2]));
    assert_eq!(cells(&[1, 1], 256), (vec![0..1, 1..2], vec![0, 1]));
}

#[test]
fn far_cells_and_unknown_rows_are_marked() {
    let matrix = matrix(&[2, 1], 256, &[Some(&[5, 6, 7]), Some(&[0, 0, 0]), None]);
    assert_eq!(matrix.csv(), "caller,peer,calls,bytes,far\n0,0,1,5,0\n0,1,1,6,0\n0,2,1,7,1\n");
    assert_eq!(matrix.missing(), [(1, 2..3)]);
    let svg = Picture { matrix: &matrix, program: "p" }.svg();
    assert!(svg.contains(">3 PEs, 18 B in 3 calls in total, 7 B in 1 calls between the 2 nodes<"));
    assert!(svg.contains("PE 0 to PE 1: 6 bytes"));
    assert!(svg.contains("PE 0 to PE 2, on another node: 7 bytes"));
    assert!(svg.contains("<title>PE 2: unknown</title>") && svg.contains("grey: unknown"));
    assert!(
        svg.contains("orange: to another")
            && svg.contains("id=\"nodes\" d=\"M70 496.67H710M496.67 70V710\"")
    );
}

#[test]
fn rows_survive_the_way() {
    let mut matrix = Matrix::new(Grid::new(&[2, 1], 256));
    let sent = row(&[0, 7, u64::MAX]);
    assert!(matrix.take(0, 1, &sent.encode()));
    assert_eq!(matrix.rows[1], Some(sent.clone()));
    assert_eq!(matrix.missing(), [(0, 0..1), (1, 2..3)]);
    let uncounted = Row { counted: false, cells: vec![Peer::default(); 3] };
    assert!(matrix.take(1, 2, &uncounted.encode()) && matrix.rows[2] == Some(uncounted));
    // Twice, of another node, outside, too long, cut short, and a column too many.
    assert!(!matrix.take(0, 1, &sent.encode()));
    assert!(!matrix.take(1, 0, &sent.encode()) && !matrix.take(1, 7, &sent.encode()));
    let bytes = sent.encode();
    for bytes in [&[&bytes[..], &[0]].concat(), &bytes[1..].to_vec(), &row(&[0, 0, 0, 1]).encode()]
    {
        assert!(!matrix.take(0, 0, bytes) && matrix.rows[0].is_none());
    }
}

#[test]
fn the_longest_row_fits_into_a_frame() {
    let most = Peer { calls: u64::MAX, bytes: u64::MAX };
    let longest = Row { counted: true, cells: vec![most; MAX_PES] }.encode().len();
    // Columns below 128 take one byte.
    assert_eq!(longest, ROW_BYTES - 128);
}
