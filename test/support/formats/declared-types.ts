import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A type as a vendor's SDK declares it, as far as JSON goes. */
export type Declared =
  | { kind: 'object'; members: Member[]; index: Declared | null; extended: Declared[] }
  | { kind: 'union'; of: Declared[] }
  | { kind: 'both'; of: Declared[] }
  | { kind: 'array'; of: Declared }
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'name'; name: string; scope: string }
  | { kind: 'string' | 'number' | 'boolean' | 'any' };

export interface Member {
  name: string;
  isOptional: boolean;
  type: Declared;
}

const packages = join(import.meta.dirname, '../../../node_modules');

/** The types of some `.d.ts` files of one package, by their names; those of namespaces as `Namespace.Name`. */
export class DeclaredTypes {
  readonly #types = new Map<string, Declared>();

  constructor(files: readonly string[]) {
    for (const file of files) new Parser(readFileSync(join(packages, file), 'utf8'), this.#types).file();
  }

  named(name: string): Declared {
    const type = this.#types.get(name);
    if (type === undefined) throw new Error(`no type ${name}`);
    return type;
  }

  /** What a name stands for: in its namespace, in one around it, or in a file that was imported under a name of its own. */
  resolve({ name, scope }: { name: string; scope: string }): Declared {
    for (let inside = scope; inside !== ''; inside = inside.slice(0, Math.max(0, inside.lastIndexOf('.')))) {
      const type = this.#types.get(`${inside}.${name}`);
      if (type !== undefined) return type;
    }
    const imported = name.slice(name.indexOf('.') + 1);
    return this.#types.get(name) ?? this.#types.get(imported) ?? { kind: 'any' };
  }
}

const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$.]*|-?\d[\d._]*|=>|\S/g;

/** Reads declarations of interfaces, types, classes with fields and namespaces; skips everything else. */
class Parser {
  readonly #tokens: string[];
  readonly #types: Map<string, Declared>;
  #at = 0;

  constructor(text: string, types: Map<string, Declared>) {
    this.#tokens = (text.match(TOKEN) ?? []).filter((one) => !one.startsWith('/*') && !one.startsWith('//'));
    this.#types = types;
  }

  file(): void {
    while (this.#at < this.#tokens.length) this.#declaration('');
  }

  #peek(ahead = 0): string {
    return this.#tokens[this.#at + ahead] ?? '';
  }

  #take(): string {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #skip(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#at += 1;
    return true;
  }

  #declaration(scope: string): void {
    const word = this.#take();
    if (word === 'export' || word === 'declare' || word === 'abstract' || word === 'default') return;
    const inside = (name: string) => (scope === '' ? name : `${scope}.${name}`);
    if (word === 'enum') this.#enumeration(inside(this.#take()));
    else if (word === 'namespace') {
      const name = inside(this.#take());
      if (!this.#skip('{')) return;
      while (this.#peek() !== '}' && this.#peek() !== '') this.#declaration(name);
      this.#take();
    } else if (word === 'interface' || word === 'class') {
      const name = this.#take();
      this.#skipParameters();
      const extended: Declared[] = [];
      while (this.#peek() !== '{' && this.#peek() !== '') {
        const next = this.#take();
        if (next !== 'extends' && next !== 'implements' && next !== ',') {
          this.#at -= 1;
          extended.push(this.#type(inside(name)));
        }
      }
      const type = this.#object(inside(name));
      this.#types.set(inside(name), { ...type, extended });
    } else if (word === 'type' && this.#peek(1) === '=') {
      const name = this.#take();
      this.#take();
      this.#types.set(inside(name), this.#type(inside(name)));
    } else if (word === '{') this.#block();
  }

  #enumeration(name: string): void {
    const of: Declared[] = [];
    this.#take();
    while (this.#peek() !== '}' && this.#peek() !== '') {
      const token = this.#take();
      if (token === '=') of.push(this.#single(name));
    }
    this.#take();
    this.#types.set(name, { kind: 'union', of });
  }

  /** Goes past a block that is none of ours. */
  #block(): void {
    for (let depth = 1; depth > 0 && this.#at < this.#tokens.length; ) {
      const token = this.#take();
      if (token === '{') depth += 1;
      if (token === '}') depth -= 1;
    }
  }

  #skipParameters(): void {
    if (this.#peek() !== '<') return;
    for (let depth = 0; ; ) {
      const token = this.#take();
      if (token === '<') depth += 1;
      if (token === '>') depth -= 1;
      if (depth === 0 || token === '') return;
    }
  }

  #object(scope: string): Extract<Declared, { kind: 'object' }> {
    const members: Member[] = [];
    let index: Declared | null = null;
    this.#take();
    while (this.#peek() !== '}' && this.#peek() !== '') {
      if (this.#skip(';') || this.#skip(',') || this.#skip('readonly') || this.#skip('private')) continue;
      if (this.#peek() === '[') {
        while (this.#take() !== ']');
        this.#skip('?');
        this.#take();
        index = this.#type(scope);
        continue;
      }
      const name = this.#take().replace(/^['"]|['"]$/g, '');
      const isOptional = this.#skip('?');
      if (this.#skip(':')) members.push({ name, isOptional, type: this.#type(scope) });
      else while (this.#peek() !== ';' && this.#peek() !== '}' && this.#peek() !== '') this.#take();
    }
    this.#take();
    return { kind: 'object', members, index, extended: [] };
  }

  #type(scope: string): Declared {
    this.#skip('|');
    const of = [this.#both(scope)];
    while (this.#skip('|')) of.push(this.#both(scope));
    return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'union', of };
  }

  #both(scope: string): Declared {
    const of = [this.#list(scope)];
    while (this.#skip('&')) of.push(this.#list(scope));
    return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'both', of };
  }

  #list(scope: string): Declared {
    let type = this.#single(scope);
    while (this.#peek() === '[' && this.#peek(1) === ']') {
      this.#at += 2;
      type = { kind: 'array', of: type };
    }
    return type;
  }

  #single(scope: string): Declared {
    const token = this.#peek();
    if (token === '{') return this.#object(scope);
    this.#at += 1;
    if (token === '(') {
      const type = this.#type(scope);
      this.#skip(')');
      return type;
    }
    if (/^['"]/.test(token)) return { kind: 'literal', value: token.slice(1, -1) };
    if (/^-?\d/.test(token)) return { kind: 'literal', value: Number(token) };
    if (token === 'true' || token === 'false') return { kind: 'literal', value: token === 'true' };
    if (token === 'null' || token === 'undefined') return { kind: 'literal', value: null };
    if (token === 'string' || token === 'number' || token === 'boolean') return { kind: token };
    if (this.#peek() !== '<') return { kind: 'name', name: token, scope };
    this.#take();
    const given = [this.#type(scope)];
    while (this.#skip(',')) given.push(this.#type(scope));
    this.#skip('>');
    const [first = { kind: 'any' }, second = { kind: 'any' }] = given;
    if (token === 'Array' || token === 'ReadonlyArray') return { kind: 'array', of: first };
    if (token === 'Record') return { kind: 'object', members: [], index: second, extended: [] };
    return first;
  }
}
