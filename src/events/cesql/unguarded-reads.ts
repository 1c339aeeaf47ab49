import { isRequired } from './event.ts';
import { alwaysRead } from './filter-condition.ts';
import { type Attribute, type Expression, type Logic, partsOf } from './syntax.ts';

/**
 * Attributes that stand to the left of an OR and that an event need not have. Without one of them the operand is an error,
 * and the other side of the OR cannot make up for it. `EXISTS name AND …` before it is a guard, and so is whatever has read
 * the attribute already.
 */
export function unguardedReads(root: Expression): Attribute[] {
  const reads: Attribute[] = [];
  visit(root, new Set(), reads);
  return reads;
}

function visit(node: Expression, guarded: ReadonlySet<string>, found: Attribute[]): void {
  if (node.type === 'logic') visitLogic(node, guarded, found);
  else for (const part of partsOf(node)) visit(part, guarded, found);
}

function visitLogic(node: Logic, guarded: ReadonlySet<string>, found: Attribute[]): void {
  const guardedNames = new Set(guarded);
  node.operands.forEach((operand, index) => {
    const operator = node.operators[index];
    const reads = operator === 'OR' ? alwaysRead(operand) : [];
    const unguarded = reads.filter(({ name }) => !isRequired(name) && !guardedNames.has(name));
    if (unguarded.length > 0) found.push(...unguarded);
    else visit(operand, guardedNames, found);
    for (const name of guards(operand, operator)) guardedNames.add(name);
  });
}

/** What is certain to be there when the evaluation goes on behind an operand and its operator. */
function guards(operand: Expression, operator: Logic['operators'][number] | undefined): string[] {
  if (operator === 'AND') return presentWhenTrue(operand);
  if (operator === 'OR' && operand.type === 'not') return presentWhenTrue(operand.operand);
  return namesOf(operand);
}

const namesOf = (node: Expression): string[] => alwaysRead(node).map(({ name }) => name);

function presentWhenTrue(node: Expression): string[] {
  if (node.type === 'exists') return [node.name];
  const all = node.type === 'logic' && node.operators.every((operator) => operator === 'AND');
  return all ? node.operands.flatMap(presentWhenTrue) : namesOf(node);
}
