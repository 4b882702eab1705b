//! Metrics of the live set.

use paraffin_mempool::Mempool;

use paraffin_gateway::metrics::Meter;

/// Reports all figures of the set.
pub(super) fn measure(mempool: &Mempool, meter: &Meter<'_>) {
    set(mempool, meter);
    changes(mempool, meter);
    feed(mempool, meter);
    stream(mempool, meter);
}

#[allow(clippy::cast_precision_loss)] // metrics need no exact values
fn set(mempool: &Mempool, meter: &Meter<'_>) {
    let (summary, lowest) = mempool.read(|pool| (pool.summary(), pool.lowest_feerate()));
    let gauge = |name, text, value| meter.gauge(name, text, &[], value);
    gauge("paraffin_mempool_transactions", "Unconfirmed transactions in the live set", summary.count as f64);
    gauge("paraffin_mempool_bytes", "Bytes of their raw encoding", summary.bytes as f64);
    gauge("paraffin_mempool_virtual_bytes", "Their virtual bytes", summary.vbytes as f64);
    gauge("paraffin_mempool_fee_satoshis", "Sum of the fees that are known", summary.total_fee as f64);
    let unknown = summary.count.saturating_sub(summary.fee_known);
    gauge("paraffin_mempool_fees_unknown", "Transactions whose fee is not known", unknown as f64);
    gauge(
        "paraffin_mempool_provisional",
        "Transactions submitted by an admin that no peer has announced",
        summary.provisional as f64,
    );
    let text = "Lowest feerate in the set, satoshis for one virtual byte; NaN in an empty one";
    gauge("paraffin_mempool_lowest_feerate", text, lowest.unwrap_or(f64::NAN));
}

fn changes(mempool: &Mempool, meter: &Meter<'_>) {
    let summary = mempool.read(paraffin_mempool::TransactionSet::summary);
    let removed: Vec<_> = mempool.read(|pool| pool.removed_by_reason().collect());
    let (returned, blocks) = mempool.read(|pool| (pool.returned_total(), pool.blocks_total()));
    let count = |name, text, total| meter.count(name, text, &[], total);
    count("paraffin_mempool_changes_total", "Changes of the set: the number of the newest frame", summary.seq);
    count("paraffin_mempool_added_total", "Transactions taken in", summary.added_total);
    for (reason, total) in removed {
        let text = "Transactions removed, by reason";
        meter.count("paraffin_mempool_removed_total", text, &[("reason", reason.word())], total);
    }
    count("paraffin_mempool_returned_total", "Transactions that came back with a block that was undone", returned);
    count("paraffin_mempool_blocks_total", "Blocks taken in", blocks);
    count("paraffin_mempool_refused_total", "Transactions that were not taken in", mempool.figures().refused());
}

#[allow(clippy::cast_precision_loss)] // metrics need no exact values
fn feed(mempool: &Mempool, meter: &Meter<'_>) {
    let figures = mempool.figures();
    let gauge = |name, text, value| meter.gauge(name, text, &[], value);
    gauge("paraffin_mempool_peers", "Peers that announce transactions now", figures.connections() as f64);
    let agrees = if mempool.agreement().is_equal() { 1.0 } else { 0.0 };
    gauge("paraffin_mempool_agrees", "1 when the set was equal to the node's list since the newest block", agrees);
    let text = "Connections to peers that were made";
    meter.count("paraffin_mempool_peer_connections_total", text, &[], figures.connections_made());
    let (made, failed) = figures.comparisons();
    for (outcome, total) in [("ok", made), ("error", failed)] {
        let text = "Comparisons with the node's list, by outcome";
        meter.count("paraffin_mempool_comparisons_total", text, &[("outcome", outcome)], total);
    }
    let text = "Transactions fetched from the node that no peer had announced";
    meter.count("paraffin_mempool_fetched_total", text, &[], figures.fetched());
}

#[allow(clippy::cast_precision_loss)] // metrics need no exact values
fn stream(mempool: &Mempool, meter: &Meter<'_>) {
    let (figures, subscribers) = (mempool.figures(), mempool.subscribers());
    let gauge = |name, text, value| meter.gauge(name, text, &[], value);
    gauge("paraffin_mempool_subscribers", "Open streams", subscribers.count() as f64);
    let lag = subscribers.lag(mempool.read(|pool| pool.ring().newest()));
    gauge("paraffin_mempool_subscriber_lag", "Changes not yet sent to the slowest subscriber", lag as f64);
    let text = "Frames handed to subscribers, counted for each of them";
    meter.count("paraffin_mempool_frames_sent_total", text, &[], figures.frames_sent());
    for (reason, total) in figures.resets() {
        let text = "Resets sent to subscribers, by reason";
        meter.count("paraffin_mempool_resets_total", text, &[("reason", reason)], total);
    }
}
