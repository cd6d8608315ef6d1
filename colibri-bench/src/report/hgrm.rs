//! The text file that HdrHistogram's own plotter reads.

use std::fmt::Write as _;

use hdrhistogram::Histogram;

/// Percentile lines per halving of the distance to 100 %, as HdrHistogram's own files have them.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

/// A histogram of ns as the text file that HdrHistogram's plotter reads; its values are in ms, the plotter's unit.
pub(super) fn file(histogram: &Histogram<u64>) -> String {
    const NANOS_PER_MILLI: f64 = 1e6;
    let mut text =
        format!("{:>14} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut total = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let value = step.value_iterated_to() as f64 / NANOS_PER_MILLI;
        let quantile = step.quantile_iterated_to();
        let _ = if quantile < 1.0 {
            writeln!(text, "{value:14.6} {quantile:14.12} {total:10} {:14.2}", 1.0 / (1.0 - quantile))
        } else {
            writeln!(text, "{value:14.6} {quantile:14.12} {total:10}")
        };
    }
    let mean = histogram.mean() / NANOS_PER_MILLI;
    let deviation = histogram.stdev() / NANOS_PER_MILLI;
    let max = histogram.max() as f64 / NANOS_PER_MILLI;
    let count = histogram.len();
    let (buckets, sub_buckets) =
        (histogram.buckets(), 2 * 10_u32.pow(histogram.sigfig().into()).next_power_of_two());
    let _ = write!(
        text,
        "#[Mean    = {mean:12.6}, StdDeviation   = {deviation:12.6}]\n\
         #[Max     = {max:12.6}, Total count    = {count:12}]\n\
         #[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]\n"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure;

    #[test]
    fn a_percentile_file_has_the_columns_the_plotter_reads() {
        let histogram = measure::histogram_of(&[1_000_000, 2_000_000, 3_000_000, 100_000_000]);
        let text = file(&histogram);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].split_whitespace().eq(["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]));
        assert_eq!(lines[1], "");
        let first: Vec<f64> = lines[2].split_whitespace().map(|field| field.parse().unwrap()).collect();
        assert!(
            (first[0] - 1.0).abs() < 0.001 && first[1] == 0.0 && first[2] == 1.0 && first[3] == 1.0,
            "{first:?}"
        );
        let last: Vec<&str> = lines[lines.len() - 4].split_whitespace().collect();
        assert_eq!(last[1..], ["1.000000000000", "4"]);
        assert!(lines[lines.len() - 3].starts_with("#[Mean"));
    }
}
