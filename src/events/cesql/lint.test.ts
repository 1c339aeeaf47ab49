import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile, type WarningCode } from './cesql.ts';

function warningsOf(text: string) {
  const compiled = compile(text);
  assert.ok(compiled.ok, text);
  return compiled.expression.warnings;
}

describe('warnings about CESQL expressions', () => {
  const warned: readonly [expression: string, code: WarningCode, message: RegExp][] = [
    ["type = 'a' AND id = 'b' OR id = 'c'", 'mixed-logic', /AND and OR/],
    ["EXISTS x AND (id = 'a' XOR EXISTS y OR EXISTS z)", 'mixed-logic', /XOR and OR/],
    ["subject = 'a' OR id = 'b'", 'unguarded-or', /Without subject .+ EXISTS subject AND/],
    ["id = 'b' OR subject = 'a' OR LENGTH(subject) = 2", 'unguarded-or', /subject/],
    ["EXISTS a AND (a = 1 OR hop = 2 OR id = 'x')", 'unguarded-or', /Without hop/],
    ["'abc' = LENGTH(id)", 'always-fails', /"abc" cannot be read as Integer/],
    ["LENGTH(id) IN (1, 'two')", 'always-fails', /"two" cannot be read as Integer/],
    ['EXISTS id', 'constant', /true for every event/],
    ["NOT id = 'x'", 'not-precedence', /NOT \(id = 'x'\)/],
    ["NOT type LIKE 'a%'", 'not-precedence', /NOT \(type LIKE 'a%'\)/],
    ["EXISTS b AND NOT id IN ('a')", 'not-precedence', /NOT \(id IN \('a'\)\)/],
    ["id < 'abc'", 'always-fails', /"abc" cannot be read as Integer/],
    ["EXISTS x AND 'yes'", 'always-fails', /"yes" cannot be read as Boolean/],
    ['hop > 5 / 0', 'always-fails', /divided by zero/],
    ["LEFT(id, 'two') = 'a'", 'always-fails', /"two"/],
    ["LEFT('abc', -1) = id", 'always-fails', /LEFT needs/],
    ['1 = 1', 'constant', /true for every event/],
    ['LENGTH(id)', 'not-boolean', /Integer/],
    ['LENGHT(id) = 5', 'unknown-function', /mean LENGTH/],
    ["LEFT(id) = 'a'", 'unknown-function', /2 arguments, not 1/],
    ["SUBSTRING(id) = 'a'", 'unknown-function', /2 or 3 arguments/],
    ['EXISTS data', 'data', /never exists/],
    ["sorce = 'a'", 'misspelled-attribute', /mean source/],
    ["Type = 'a'", 'upper-case-attribute', /read as type/],
    ['EXISTS anextensionwithalongname', 'long-attribute', /20/],
    ["id = 'it''s'", 'doubled-quote', /two quotes/],
    ["id LIKE 'it''s%'", 'doubled-quote', /two quotes/],
  ];
  for (const [expression, code, message] of warned) {
    it(`${code}: ${expression}`, () => {
      const warnings = warningsOf(expression);
      assert.deepEqual(
        warnings.map((warning) => warning.code),
        [code],
      );
      assert.match(warnings[0]?.message ?? '', message);
    });
  }

  const clean = [
    "type = 'a' AND id = 'b' AND id = 'c'",
    "id = 'a' OR subject = 'b'",
    "(EXISTS subject AND subject = 'a') OR id = 'b'",
    "EXISTS subject AND (subject = 'a' OR subject = 'b')",
    "(EXISTS subject AND EXISTS hop) AND (subject = 'a' OR hop = 1 OR id = 'b')",
    "hop > 3 AND (hop < 5 OR subject = 'b')",
    'NOT EXISTS hop OR (hop < 3 OR EXISTS subject)',
    "'5' = LENGTH(id)",
    "(type = 'a' AND id = 'b') OR id = 'c'",
    "NOT (id = 'x')",
    '(NOT urgent) = TRUE',
    'NOT EXISTS subject',
    'NOT urgent',
    "type NOT LIKE 'a%'",
    'exists Subject'.toLowerCase(),
    'hop < ttl',
    'TRUE',
    "id = 'a' OR '5' = hop",
    'urgent',
  ];
  for (const expression of clean)
    it(`none: ${expression}`, () => assert.deepEqual(warningsOf(expression), []));
});
