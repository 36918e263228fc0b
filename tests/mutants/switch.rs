//! Every mutant of a file in one text, each behind `crate::mutant::on(NUMBER)`: one build has them all, and a run chooses one.

#![allow(clippy::wildcard_enum_match_arm, reason = "syn adds kinds of expressions")]

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{LineColumn, Span};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::edit::{Edits, Part, Switched};
use crate::list::{Genre, Mutant, Place};

/// The text with these mutants, by number.
pub(crate) fn switch(
    source: &str,
    mutants: &BTreeMap<usize, &Mutant>,
) -> Result<Switched, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut waiting: BTreeMap<(Place, u8), Vec<usize>> = BTreeMap::new();
    for (number, mutant) in mutants {
        waiting.entry((mutant.span.start, mutant.genre as u8)).or_default().push(*number);
    }
    let mut switch = Switch { source, mutants, waiting, edits: Edits::default() };
    switch.visit_file(&file);
    Ok(switch.edits.apply(source))
}

/// The numbers that have a place in the text.
pub(crate) fn placed(switched: &Switched) -> BTreeSet<usize> {
    switched.ranges.iter().flat_map(|(_, mutants)| mutants.iter().copied()).collect()
}

/// The value of a function that returns an iterator.
const EMPTY: &str = "::std::iter::empty()";

/// Rust that is true while the mutant is chosen.
fn on(number: usize) -> String {
    format!("crate::mutant::on({number})")
}

struct Switch<'s> {
    source: &'s str,
    mutants: &'s BTreeMap<usize, &'s Mutant>,
    waiting: BTreeMap<(Place, u8), Vec<usize>>,
    edits: Edits,
}

impl Switch<'_> {
    fn take(&mut self, genre: Genre, span: Span) -> Vec<usize> {
        self.waiting.remove(&(place(span.start()), genre as u8)).unwrap_or_default()
    }

    /// `if on(1) { one } else if on(2) { two } else { original }`.
    fn choice(&self, numbers: &[usize], one: impl Fn(&str) -> String, original: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        for number in numbers {
            parts.push((format!("if {} {{ ", on(*number)), None));
            parts.push((one(&self.mutants[number].replacement), Some(*number)));
            parts.push((" } else ".to_owned(), None));
        }
        parts.push((format!("{{ {original} }}"), None));
        parts
    }

    /// A function's values go before its first statement.
    fn values(&mut self, block: &syn::Block) {
        let inside = (place(block.span().start()), place(block.span().end()));
        let is_inside = |place: &Place| inside.0 <= *place && *place < inside.1;
        let keys: Vec<(Place, u8)> = self
            .waiting
            .keys()
            .filter(|(place, genre)| *genre == Genre::FnValue as u8 && is_inside(place))
            .copied()
            .collect();
        // Nested functions come first in `visit`: the mutants that are left are this one's.
        let mut numbers: Vec<usize> =
            keys.iter().filter_map(|key| self.waiting.remove(key)).flatten().collect();
        let is_iterator = |number: &usize| self.mutants[number].replacement == EMPTY;
        if numbers.iter().any(is_iterator) {
            numbers.retain(is_iterator);
        }
        if numbers.is_empty() {
            return;
        }
        if let Some(syn::Stmt::Expr(tail, None)) = block.stmts.last()
            && let [number] = numbers[..]
            && self.mutants[&number].replacement == EMPTY
        {
            // `impl Iterator` is one type, so the original loses its items instead.
            let group = self.edits.group(numbers);
            let tail = tail.span().byte_range();
            self.edits.open(group, tail.start, "(");
            let end = format!(").filter(|_| !{})", on(number));
            self.edits.close(group, tail.end, vec![(end, Some(number))]);
            return;
        }
        let parts = numbers
            .iter()
            .flat_map(|number| {
                let value = &self.mutants[number].replacement;
                [
                    (format!(" if {} ", on(*number)), None),
                    (format!("{{ return {value}; }}"), Some(*number)),
                ]
            })
            .collect();
        let group = self.edits.group(numbers);
        self.edits.open_parts(group, block.brace_token.span.open().byte_range().end, parts);
    }

    fn binary(&mut self, node: &syn::ExprBinary) {
        use syn::BinOp::*;
        let numbers = self.take(Genre::BinaryOperator, node.op.span());
        if numbers.is_empty() || has_let(&node.left) || has_let(&node.right) {
            return;
        }
        let group = self.edits.group(numbers.clone());
        let whole = node.span().byte_range();
        let operator = node.op.span().byte_range();
        let sign = self.source[operator.clone()].to_owned();
        match node.op {
            Eq(_) | Ne(_) if numbers.len() == 1 => {
                self.edits.open(group, whole.start, "((");
                let end = vec![(format!(") != {})", on(numbers[0])), None)];
                self.edits.close(group, whole.end, end);
            }
            And(_) | Or(_) if numbers.len() == 1 => {
                let changed = format!("left != {}", on(numbers[0]));
                self.edits.open(group, whole.start, "({ let left = ");
                let (middle, end) = match node.op {
                    And(_) => (format!("; if {changed} {{"), "} else { left } })"),
                    _ => (format!("; if {changed} {{ left }} else {{"), "} })"),
                };
                self.edits.replace(group, operator, &middle);
                self.edits.close(group, whole.end, vec![(end.to_owned(), None)]);
            }
            Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_) => {
                self.edits.open(group, whole.start, "(match (&(");
                self.edits.replace(group, operator, "), &(");
                let one = |sign: &str| format!("*left {sign} *right");
                let mut end = vec![(")) { (left, right) => ".to_owned(), None)];
                end.extend(self.choice(&numbers, one, &one(&sign)));
                end.push((" })".to_owned(), None));
                self.edits.close(group, whole.end, end);
            }
            AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_)
            | BitAndAssign(_) | BitOrAssign(_) | BitXorAssign(_) | ShlAssign(_) | ShrAssign(_) => {
                let left = self.source[node.left.span().byte_range()].to_owned();
                let one = |sign: &str| format!("{left} {sign} right");
                self.edits.replace(group, whole.start..operator.end, "match (");
                let mut end = vec![(") { right => ".to_owned(), None)];
                end.extend(self.choice(&numbers, one, &one(&sign)));
                end.push((" }".to_owned(), None));
                self.edits.close(group, whole.end, end);
            }
            _ => {
                self.edits.open(group, whole.start, "(match (");
                self.edits.replace(group, operator, ", ");
                let one = |sign: &str| format!("left {sign} right");
                let mut end = vec![(") { (left, right) => ".to_owned(), None)];
                end.extend(self.choice(&numbers, one, &one(&sign)));
                end.push((" })".to_owned(), None));
                self.edits.close(group, whole.end, end);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Switch<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if node.sig.constness.is_none() {
            visit::visit_item_fn(self, node);
            self.values(&node.block);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if node.sig.constness.is_none() {
            visit::visit_impl_item_fn(self, node);
            self.values(&node.block);
        }
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        visit::visit_trait_item_fn(self, node);
        if let Some(block) = &node.default {
            self.values(block);
        }
    }

    // The value of a constant is not there to be chosen at run time.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        self.binary(node);
        // The left side of an assignment is copied as it is.
        let is_assignment = self.source[node.op.span().byte_range()].ends_with('=')
            && !matches!(
                node.op,
                syn::BinOp::Eq(_) | syn::BinOp::Ne(_) | syn::BinOp::Le(_) | syn::BinOp::Ge(_)
            );
        if !is_assignment {
            self.visit_expr(&node.left);
        }
        self.visit_expr(&node.right);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        let numbers = self.take(Genre::UnaryOperator, node.op.span());
        if let [number] = numbers[..] {
            let group = self.edits.group(numbers);
            let whole = node.span().byte_range();
            match node.op {
                syn::UnOp::Not(_) => {
                    self.edits.open(group, whole.start, "((");
                    let end = vec![(format!(") != {})", on(number)), None)];
                    self.edits.close(group, whole.end, end);
                }
                _ => {
                    let operator = node.op.span().byte_range();
                    let sign = &self.source[operator.clone()];
                    let end = format!(
                        ") {{ value => if {} {{ value }} else {{ {sign}value }} }})",
                        on(number)
                    );
                    self.edits.replace(group, operator, "(match (");
                    self.edits.close(group, whole.end, vec![(end, None)]);
                }
            }
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_match(&mut self, node: &'ast syn::ExprMatch) {
        let is_rest = |arm: &syn::Arm| arm.guard.is_none() && matches!(arm.pat, syn::Pat::Wild(_));
        if !node.arms.iter().any(is_rest) {
            for arm in &node.arms {
                self.take(Genre::MatchArm, arm.span());
            }
        }
        visit::visit_expr_match(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        let deleted = self.take(Genre::MatchArm, node.span());
        let guard = node.guard.as_ref().map(|(_, guard)| guard);
        let replaced = guard.map(|it| self.take(Genre::MatchArmGuard, it.span()));
        let replaced = match guard.is_some_and(|guard| has_let(guard)) {
            true => Vec::new(),
            false => replaced.unwrap_or_default(),
        };
        let is = |value: &str| -> Vec<usize> {
            replaced
                .iter()
                .filter(|number| self.mutants[*number].replacement == value)
                .copied()
                .collect()
        };
        let (mut never, always) = (is("false"), is("true"));
        never.extend(&deleted);
        let text =
            |numbers: &[usize]| numbers.iter().map(|n| on(*n)).collect::<Vec<_>>().join(" || ");
        if !never.is_empty() || !always.is_empty() {
            let not =
                if never.is_empty() { "true".to_owned() } else { format!("!({})", text(&never)) };
            let or = if always.is_empty() { "false".to_owned() } else { text(&always) };
            let group = self.edits.group([never, always].concat());
            match guard {
                Some(guard) => {
                    let range = guard.span().byte_range();
                    self.edits.open(group, range.start, &format!("{not} && ({or} || ("));
                    self.edits.close(group, range.end, vec![("))".to_owned(), None)]);
                }
                None => {
                    let end = node.pat.span().byte_range().end;
                    self.edits.close(group, end, vec![(format!(" if {not}"), None)]);
                }
            }
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        for field in &node.fields {
            let numbers = self.take(Genre::StructField, field.span());
            let (Some(rest), [number]) = (&node.rest, &numbers[..]) else { continue };
            let rest = &self.source[rest.span().byte_range()];
            let path = &self.source[node.path.span().byte_range()];
            let base = match rest {
                "Default::default()" => format!("<{path}>::default()"),
                rest => format!("({rest}).clone()"),
            };
            let syn::Member::Named(name) = &field.member else { continue };
            let colon = if field.colon_token.is_some() { "" } else { ": " };
            let before = format!("{colon}if {} {{ ", on(*number));
            let value = field.expr.span().byte_range();
            let group = self.edits.group(numbers.clone());
            let parts = vec![
                (before, None),
                (format!("{base}.{name}"), Some(*number)),
                (" } else { ".to_owned(), None),
            ];
            match field.colon_token {
                Some(_) => self.edits.open_parts(group, value.start, parts),
                None => {
                    let start = Some((name.to_string(), None));
                    let parts = start.into_iter().chain(parts).collect();
                    self.edits.open_parts(group, value.start, parts);
                }
            }
            self.edits.close(group, value.end, vec![(" }".to_owned(), None)]);
        }
        visit::visit_expr_struct(self, node);
    }
}

fn place(at: LineColumn) -> Place {
    Place { line: at.line, column: at.column + 1 }
}

/// True for a condition that binds names, which only `if` and `while` can contain.
fn has_let(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}
