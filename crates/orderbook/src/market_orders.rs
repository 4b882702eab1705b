//! The active orders of one market in the order of their ids, with the checksum over all of them at any moment.
//!
//! A search tree with random priorities (a treap): every node holds the checksum of its subtree, so a change updates only the
//! path from one order to the root.

use std::cmp::Ordering;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::checksum::Piece;
use crate::order::Order;

/// A treap of orders by id.
#[derive(Debug, Default)]
pub(crate) struct MarketOrders {
    root: Link,
    len: usize,
    /// Seeded anew for every market, so that an attacker cannot choose ids that unbalance the tree.
    rank_hasher: RandomState,
}

type Link = Option<Box<Node>>;

#[derive(Debug)]
struct Node {
    order: Arc<Order>,
    /// No child has a higher one.
    rank: u64,
    own: Piece,
    /// Of this node and all below it.
    all: Piece,
    left: Link,
    right: Link,
}

fn all(link: &Link) -> Piece {
    link.as_ref().map_or(Piece::EMPTY, |node| node.all)
}

impl Node {
    fn sum(&mut self) {
        self.all = all(&self.left).then(self.own).then(all(&self.right));
    }
}

impl MarketOrders {
    /// How many orders there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// CRC-32 over all orders.
    pub(crate) fn checksum(&self) -> u32 {
        all(&self.root).crc()
    }

    /// Inserts an order or replaces the one with the same id. `own` is its [`Order::piece`], which many markets share.
    pub(crate) fn put(&mut self, order: Arc<Order>, own: Piece) {
        let rank = self.rank_hasher.hash_one(order.id());
        let root = self.root.take();
        let (root, is_new) = put(root, Box::new(Node { order, rank, own, all: own, left: None, right: None }));
        self.root = Some(root);
        self.len += usize::from(is_new);
    }

    /// Removes an order.
    pub(crate) fn take(&mut self, id: &str) {
        let (root, was_there) = take(self.root.take(), id);
        self.root = root;
        self.len -= usize::from(was_there);
    }

    /// All orders by ascending id.
    pub(crate) fn orders(&self) -> Vec<Arc<Order>> {
        let mut orders = Vec::with_capacity(self.len);
        let mut above: Vec<&Node> = Vec::new();
        let mut next = self.root.as_deref();
        loop {
            while let Some(node) = next {
                above.push(node);
                next = node.left.as_deref();
            }
            let Some(node) = above.pop() else { return orders };
            orders.push(Arc::clone(&node.order));
            next = node.right.as_deref();
        }
    }
}

fn put(link: Link, mut new: Box<Node>) -> (Box<Node>, bool) {
    let Some(mut node) = link else { return (new, true) };
    let order = new.order.id().cmp(node.order.id());
    if order != Ordering::Equal && new.rank > node.rank {
        // The new one becomes the root of this subtree, which is split around it. No node of it has the same id, since that one
        // would have the same rank and be above.
        let (left, right) = split(Some(node), new.order.id());
        (new.left, new.right) = (left, right);
        new.sum();
        return (new, true);
    }
    let is_new = match order {
        Ordering::Equal => {
            (node.order, node.own) = (new.order, new.own);
            false
        }
        Ordering::Less => {
            let (left, is_new) = put(node.left.take(), new);
            node.left = Some(left);
            is_new
        }
        Ordering::Greater => {
            let (right, is_new) = put(node.right.take(), new);
            node.right = Some(right);
            is_new
        }
    };
    node.sum();
    (node, is_new)
}

/// Splits a tree into the orders below `id` and those above it.
fn split(link: Link, id: &str) -> (Link, Link) {
    let Some(mut node) = link else { return (None, None) };
    if node.order.id() < id {
        let (left, right) = split(node.right.take(), id);
        node.right = left;
        node.sum();
        (Some(node), right)
    } else {
        let (left, right) = split(node.left.take(), id);
        node.left = right;
        node.sum();
        (left, Some(node))
    }
}

fn take(link: Link, id: &str) -> (Link, bool) {
    let Some(mut node) = link else { return (None, false) };
    let was_there = match id.cmp(node.order.id()) {
        Ordering::Equal => return (join(node.left.take(), node.right.take()), true),
        Ordering::Less => {
            let (left, was_there) = take(node.left.take(), id);
            node.left = left;
            was_there
        }
        Ordering::Greater => {
            let (right, was_there) = take(node.right.take(), id);
            node.right = right;
            was_there
        }
    };
    if was_there {
        node.sum();
    }
    (Some(node), was_there)
}

/// Joins two trees; all ids of the first are below those of the second.
fn join(left: Link, right: Link) -> Link {
    match (left, right) {
        (None, only) | (only, None) => only,
        (Some(mut left), Some(mut right)) => Some(if left.rank > right.rank {
            left.right = join(left.right.take(), Some(right));
            left.sum();
            left
        } else {
            right.left = join(Some(left), right.left.take());
            right.sum();
            right
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::order::Status;

    proptest! {
        #[test]
        fn the_orders_of_a_market_are_a_sorted_map_with_a_checksum(steps in prop::collection::vec((0_u16..60, any::<bool>(), 0_u8..4), 0..300)) {
            let mut market = MarketOrders::default();
            let mut model = BTreeMap::new();
            for (number, is_put, price) in steps {
                let id = format!("clx{number}");
                if is_put {
                    let order = Arc::new(Order::sample(&id, Status::Open, &price.to_string()));
                    market.put(Arc::clone(&order), order.piece());
                    model.insert(id, order);
                } else {
                    market.take(&id);
                    model.remove(&id);
                }
                prop_assert_eq!(market.len(), model.len());
                let text: String = model.values().map(|order| order.checked_text()).collect();
                prop_assert_eq!(market.checksum(), crc32fast::hash(text.as_bytes()));
            }
            let ids: Vec<_> = market.orders().iter().map(|order| order.id().to_owned()).collect();
            let expected: Vec<_> = model.into_keys().collect();
            prop_assert_eq!(ids, expected);
        }
    }
}
