//! A small workload that shows everything at a glance: the case that the report draws if none failed.

use crate::workload::{Action, Class, Plan, Settings, Workload, span};

/// Three classes on one thread for some 150 ms: short work that comes again and again, equals of two weights, bulk work that
/// is promoted, a task that does not check, one that hovers, one that is cancelled.
pub fn portrait() -> Workload {
    Workload {
        settings: Settings { upgrade_after: span("40ms"), ..Settings::default() },
        tasks: vec![
            Plan::new(Class::Immediate).rounds(12).sleep("9ms").work("1ms", "100us"),
            Plan::new(Class::Immediate).arrives("20ms").rounds(5).work("600us", "100us").sleep("17ms"),
            Plan::new(Class::Normal).work("24ms", "200us"),
            Plan::new(Class::Normal).work("24ms", "200us"),
            Plan::new(Class::Normal).weight(2).work("24ms", "200us"),
            Plan::new(Class::Normal).arrives("15ms").hold("5ms").work("4ms", "200us"),
            Plan::new(Class::Normal).arrives("30ms").act(Action::Pause(6)).work("3ms", "100us"),
            Plan::new(Class::Idle).work("20ms", "500us"),
            Plan::new(Class::Idle).work("20ms", "500us"),
            Plan::new(Class::Idle).arrives("10ms").work("60ms", "500us"),
        ],
        ..Workload::default()
    }
    .outside("90ms", Action::Resume(6))
    .outside("140ms", Action::Cancel(9))
}
