//! Methods about peers.

use serde_json::{Value, json};

use super::RpcContext;
use super::params::{Params, RpcResult};
use super::render::{btc, number};
use crate::node::{INCREMENTAL_SATS_PER_KVB, MIN_RELAY_SATS_PER_KVB};
use crate::p2p::{PROTOCOL_VERSION, USER_AGENT, our_services, service_names};

/// The version of Bitcoin Core whose answers these are.
const CORE_VERSION: u32 = 310_000;

pub(super) fn get_connection_count(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(json!(context.peers.list().len()))
}

pub(super) fn get_network_info(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    let connections = context.peers.list().len();
    let networks: Vec<Value> = ["ipv4", "ipv6", "onion", "i2p", "cjdns"]
        .into_iter()
        .map(|name| {
            let reachable = name.starts_with("ip");
            json!({
                "name": name,
                "limited": !reachable,
                "reachable": reachable,
                "proxy": "",
                "proxy_randomize_credentials": false,
            })
        })
        .collect();
    Ok(json!({
        "version": CORE_VERSION,
        "subversion": USER_AGENT,
        "protocolversion": PROTOCOL_VERSION,
        "localservices": format!("{:016x}", our_services().to_u64()),
        "localservicesnames": service_names(our_services()),
        "localrelay": true,
        "timeoffset": 0,
        "networkactive": true,
        "connections": connections,
        "connections_in": connections,
        "connections_out": 0,
        "networks": networks,
        "relayfee": btc(MIN_RELAY_SATS_PER_KVB),
        "incrementalfee": btc(INCREMENTAL_SATS_PER_KVB),
        "localaddresses": [],
        "warnings": [],
    }))
}

pub(super) fn get_peer_info(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    let height = context.node.tip().height;
    let peers: Vec<Value> = context
        .peers
        .list()
        .into_iter()
        .map(|peer| {
            let mut object = json!({
                "id": peer.id,
                "addr": peer.addr.to_string(),
                "addrbind": context.p2p_addr.to_string(),
                "network": "not_publicly_routable",
                "services": format!("{:016x}", peer.services.to_u64()),
                "servicesnames": service_names(peer.services),
                "relaytxes": peer.relay,
                "last_inv_sequence": 0,
                "inv_to_send": 0,
                "lastsend": peer.last_send,
                "lastrecv": peer.last_receive,
                "last_transaction": 0,
                "last_block": 0,
                "bytessent": peer.bytes_sent,
                "bytesrecv": peer.bytes_received,
                "conntime": peer.connected,
                "timeoffset": 0,
                "version": peer.version,
                "subver": peer.user_agent,
                "inbound": true,
                "bip152_hb_to": false,
                "bip152_hb_from": false,
                "presynced_headers": -1,
                "synced_headers": -1,
                "synced_blocks": -1,
                "startingheight": peer.start_height,
                "inflight": [],
                "addr_relay_enabled": false,
                "addr_processed": 0,
                "addr_rate_limited": 0,
                "permissions": ["noban", "mempool"],
                "minfeefilter": btc(peer.fee_filter),
                "bytessent_per_msg": {},
                "bytesrecv_per_msg": {},
                "connection_type": "inbound",
                "transport_protocol_type": "v1",
                "session_id": "",
            });
            if peer.synced_height > 0 {
                object["synced_headers"] = json!(peer.synced_height.min(height));
                object["synced_blocks"] = json!(peer.synced_height.min(height));
            }
            if let Some(seconds) = &peer.ping_seconds {
                object["pingtime"] = number(seconds);
                object["minping"] = number(seconds);
            }
            object
        })
        .collect();
    Ok(Value::Array(peers))
}

pub(super) fn ping(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    context.peers.ping_all();
    Ok(Value::Null)
}
