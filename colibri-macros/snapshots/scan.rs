// Everything that leaves a loop or the function.
fn scan(lines: &[&str], limit: usize) -> Result<usize, std::num::ParseIntError> {
    let mut total = 0;
    'lines: for line in lines {
        for part in line.split(',') {
            if part.is_empty() {
                continue 'lines;
            }
            total += part.parse::<usize>()?;
            if total > limit {
                break 'lines;
            }
            if part == "end" {
                return Ok(total);
            }
        }
    }
    Ok(total)
}
