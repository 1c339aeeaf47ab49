import { GatewayError } from '../../lib/error.ts';
import { characterOf, type Takes } from './character-set.ts';
import { type Node, parsePattern } from './pattern-parser.ts';

/** One step of a pattern: it takes a character, or continues without one. */
type Step =
  | { kind: 'take'; takes: Takes; next: number }
  | { kind: 'fork'; next: number; other: number }
  | { kind: 'edge'; at: 'start' | 'end'; next: number }
  | { kind: 'match' };

export interface Pattern {
  steps: readonly Step[];
  /** The step that everything begins with. The first of all steps is the match. */
  entry: number;
  ignoreCase: boolean;
}

/** What may still be spent on looking for patterns; one for all rows of a query. A step is a place of a pattern at a character. */
export interface Budget {
  steps: number;
}

const MAX_STEPS = 1_000;

/**
 * A regular expression without what needs backtracking: text is looked through once, whatever the pattern, so that none
 * can be written that takes exponential time (the way of Thompson and of RE2).
 * @throws GatewayError `invalid_request` for what is no pattern, or needs lookaround or back-references
 */
export function compilePattern(source: string, ignoreCase: boolean): Pattern {
  const steps: Step[] = [];
  const emit = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw unfit('it repeats too much');
    return steps.push(step) - 1;
  };
  const match = emit({ kind: 'match' });
  return { steps, entry: build(parsePattern(source), match, emit), ignoreCase };
}

type Emit = (step: Step) => number;

/** Adds the steps of a node that go on to `next`; their entry. */
function build(node: Node, next: number, emit: Emit): number {
  switch (node.kind) {
    case 'empty':
      return next;
    case 'take':
      return emit({ kind: 'take', takes: node.takes, next });
    case 'edge':
      return emit({ kind: 'edge', at: node.at, next });
    case 'sequence':
      return node.nodes.reduceRight((after, part) => build(part, after, emit), next);
    case 'choice':
      return node.nodes
        .map((part) => build(part, next, emit))
        .reduce((other, entry) => emit({ kind: 'fork', next: entry, other }));
    case 'repeat':
      return buildRepeat(node, next, emit);
  }
}

function buildRepeat(node: Node & { kind: 'repeat' }, next: number, emit: Emit): number {
  let entry = next;
  if (node.most === null) {
    const loop: Step & { kind: 'fork' } = { kind: 'fork', next, other: next };
    entry = emit(loop);
    loop.other = build(node.node, entry, emit);
  } else {
    for (let count = node.least; count < node.most; count++) {
      entry = emit({ kind: 'fork', next: build(node.node, entry, emit), other: next });
    }
  }
  for (let count = 0; count < node.least; count++) {
    const before = build(node.node, entry, emit);
    // What takes nothing is not worth repeating, and costs no step that would bound it.
    if (before === entry) break;
    entry = before;
  }
  return entry;
}

/**
 * Whether the pattern is anywhere in a text.
 * @throws GatewayError `invalid_request` once the budget is spent
 */
export function isIn(pattern: Pattern, text: string, budget: Budget): boolean {
  const { entry, ignoreCase, steps } = pattern;
  let places = new Set<number>();
  for (let index = 0; ; ) {
    follow(steps, places, entry, index === 0, index === text.length);
    budget.steps -= places.size + 1;
    if (budget.steps < 0) throw unfit('it is too costly for so many rows: make the pattern smaller');
    if (places.has(0)) return true;
    const code = text.codePointAt(index);
    if (code === undefined) return false;
    const character = characterOf(code, ignoreCase);
    index += code > 0xffff ? 2 : 1;
    const after = new Set<number>();
    for (const place of places) {
      const step = steps[place];
      if (step?.kind === 'take' && step.takes(character))
        follow(steps, after, step.next, false, index === text.length);
    }
    places = after;
  }
}

/** Adds a step and all that can be reached from it without taking a character. */
function follow(
  steps: readonly Step[],
  places: Set<number>,
  from: number,
  atStart: boolean,
  atEnd: boolean,
): void {
  const open = [from];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const step = steps[place];
    if (step === undefined || places.has(place)) continue;
    places.add(place);
    if (step.kind === 'fork') open.push(step.next, step.other);
    if (step.kind === 'edge' && (step.at === 'start' ? atStart : atEnd)) open.push(step.next);
  }
}

function unfit(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The pattern cannot be used: ${problem}`, { param: 'filter[]' });
}
