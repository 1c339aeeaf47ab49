import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findProvider, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices';
import { compile } from '../src/catalog/match.ts';
import {
  type MatchRule,
  type PricePeriod,
  type PriceRow,
  type PriceTable,
  priceTable,
  type Seller,
} from '../src/catalog/schema.ts';
import { ownProviders } from '../src/providers/index.ts';

/**
 * Writes src/catalog/prices.gen.json from the price data of the npm package @pydantic/genai-prices.
 * `--check` writes nothing and exits 1 when the committed file differs.
 */

const { values: flags } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const target = fileURLToPath(new URL('../src/catalog/prices.gen.json', import.meta.url));

const priceKeys: Record<string, keyof PricePeriod> = {
  input_mtok: 'i',
  output_mtok: 'o',
  cache_read_mtok: 'r',
  cache_write_mtok: 'w',
  cache_write_1h_mtok: 'h',
  output_reasoning_mtok: 't',
  input_audio_mtok: 'a',
  output_audio_mtok: 'b',
  input_image_mtok: 'p',
  output_image_mtok: 'q',
  web_searches_kcount: 's',
  input_audio_hours: 'x',
};

/**
 * Models that cost nothing, which the package does not say.
 * https://developers.openai.com/api/docs/models/omni-moderation-latest
 */
const freeOfCharge: Record<string, RegExp> = { openai: /^moderation$/ };

/**
 * Rows that name a family, a retired model, another seller's id or an endpoint that the gateway does not serve:
 * they price what comes in, but are not offered. Sources: each provider's list of models and of deprecations.
 */
const notOffered: Record<string, RegExp> = {
  openai:
    /^(ada|babbage|curie|davinci|text-davinci.*|ft:.*|.*\.ft-|gpt-3\.5-(0301|turbo-0613)|gpt-4-(32k|vision-preview)|gpt-4\.5-preview|gpt-4o:extended|o1-(mini|preview)|codex-mini|gpt-3\.5-turbo-16k|computer-use|moderation|gpt-oss.*|gpt-5.*-image.*|.*(realtime|audio-preview).*)$/,
  // https://platform.claude.com/docs/en/about-claude/model-deprecations
  anthropic: /^claude-(v1|2|3-.*|opus-4-[01]|sonnet-4-0)$/,
  // Claude on Google Cloud has another API; retired and image, speech and live models answer at other endpoints.
  google:
    /^(claude-.*|gemini-(1\.|2\.0-).*|gemini-(flash|pro)(-1\.5.*)?|gemini-3-pro-preview|gemma-(2-27b-it|3|3n)|.*(-maas|-tts|-image|-live|-flash-preview)$|.*(image|live|omni|tts)-.*)$/,
  mistral:
    /^(.*:free|.*-instruct.*|codestral|mistral-saba|mistral-(7b|nemo|large|tiny|medium-2312|ocr-.*)|mixtral-.*|ministral-[38]b|pixtral-.*|mag.*|voxtral-small.*)$/,
  // Retired on 2026-07-24: https://api-docs.deepseek.com
  deepseek: /^deepseek-(chat|reasoner|v3.*)$/,
  cerebras: /^qwen-3-coder-480b$/,
  minimax: /^(minimax-01|minimax-m1)$/,
  groq: /^(.*-preview|.*specdec|gemma.*|llama2-.*|llama3-.*|mixtral.*|llama-3\.1-(70b|405b).*|deepseek-r1.*|mistral-saba.*|llama-guard-3.*)$/,
  // Models of 2023 and 2024 that Together has retired since: https://docs.together.ai/docs/deprecations
  together: /^(?!meta-llama\/(Llama-3\.3|Llama-4))/,
  // What a caller names is a deployment, not a model.
  azure: /./,
  'x-ai': /^(grok-2.*|grok-voice.*)$/,
  // Rows without a vendor are older names of the same models.
  openrouter: /^[^/]+$/,
};

/** The spelling that an API wants where the row's id is written otherwise. */
const spelledLike: Record<string, (id: string) => string> = {
  zai: (id) => id.toLowerCase(),
  minimax: (id) => id.replace(/^minimax-m/, 'MiniMax-M'),
};

/** Google's OpenAI surface lists `models/gemini-…`. */
const prefixes: Record<string, string> = { google: 'models/' };

function build(): PriceTable {
  const ids = ownProviders.flatMap((provider) => (provider.prices === null ? [] : [provider.prices])).sort();
  const sellers: Record<string, Seller> = {};
  for (const id of ids) sellers[id] = seller(id, ids);
  return priceTable.parse({ source: `genai-prices ${packageVersion()}`, notice: notice(), sellers });
}

function seller(id: string, ids: readonly string[]): Seller {
  const data = findProvider({ providerId: id });
  if (data === undefined) throw new Error(`the price package knows no provider ${id}`);
  const fallback = (data.fallback_model_providers ?? []).filter((other) => ids.includes(other));
  return {
    ...(prefixes[id] !== undefined && { prefix: prefixes[id] }),
    ...(fallback.length > 0 && { fallback }),
    models: data.models.map((model) => row(id, model)),
  };
}

function row(seller: string, model: ModelInfo): PriceRow {
  const periods = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const price = periods.map(({ constraint, prices }) => ({ ...when(constraint), ...rates(prices) }));
  const match = rule(model.match);
  const free = isFree(seller, model);
  const priced = price.every((period) => period.i !== undefined || period.x !== undefined);
  const call = free || priced ? calledAs(seller, model, match) : [];
  return {
    id: model.id,
    ...(model.name !== undefined && model.name !== model.id && { name: model.name }),
    ...(model.context_window !== undefined && { ctx: model.context_window }),
    ...(match !== `=${model.id.toLowerCase()}` && { match }),
    ...(priced && { price }),
    ...(free && { free: 1 as const }),
    ...(model.deprecated && { old: 1 as const }),
    ...(call.length > 0 && { call }),
  };
}

/** Without any price the package means either "free" or "not known": only what says that it is free counts as free. */
function isFree(seller: string, model: ModelInfo): boolean {
  if (Array.isArray(model.prices) || Object.keys(model.prices).length > 0) return false;
  return (
    freeOfCharge[seller]?.test(model.id) === true ||
    /:free$/.test(model.id) ||
    /\(free\)$/.test(model.name ?? '') ||
    /free of charge/i.test(model.price_comments ?? '')
  );
}

function calledAs(seller: string, model: ModelInfo, match: MatchRule): string[] {
  if (model.deprecated || notOffered[seller]?.test(model.id)) return [];
  // Fireworks' rows are named by the last part of the id; the ids themselves stand in the rule.
  if (seller === 'fireworks') return equals(match).filter((id) => id.endsWith(`/${model.id.toLowerCase()}`));
  return compile(match)(model.id.toLowerCase()) ? [spelledLike[seller]?.(model.id) ?? model.id] : [];
}

function equals(match: MatchRule): string[] {
  if (typeof match === 'string') return match.startsWith('=') ? [match.slice(1)] : [];
  return 'all' in match ? [] : match.flatMap(equals);
}

function rule(match: ModelInfo['match']): MatchRule {
  if ('equals' in match) return `=${match.equals.toLowerCase()}`;
  if ('starts_with' in match) return `^${match.starts_with.toLowerCase()}`;
  if ('ends_with' in match) return `$${match.ends_with.toLowerCase()}`;
  if ('contains' in match) return `*${match.contains.toLowerCase()}`;
  if ('regex' in match) return `/${match.regex}`;
  if ('and' in match) return { all: match.and.map(rule) };
  const any = [...new Map(match.or.map((part) => [JSON.stringify(rule(part)), rule(part)])).values()];
  return any.length === 1 && any[0] !== undefined ? any[0] : any;
}

function when(constraint: Extract<ModelInfo['prices'], unknown[]>[number]['constraint']): PricePeriod {
  if (constraint === undefined) return {};
  if (constraint.type === 'start_date') return { from: constraint.start_date };
  return { daily: [utcSeconds(constraint.start_time), utcSeconds(constraint.end_time)] };
}

function utcSeconds(time: string): number {
  const parts = /^(\d{2}):(\d{2}):(\d{2})Z$/.exec(time);
  if (parts === null) throw new Error(`the price package has a time that is not UTC: ${time}`);
  return Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3]);
}

function rates(prices: ModelPrice): PricePeriod {
  const out: Record<string, number | number[]> = {};
  for (const [key, short] of Object.entries(priceKeys)) {
    const value = prices[key];
    if (value === undefined) continue;
    if (typeof value === 'number') out[short] = value;
    else {
      const tiers = [...value.tiers].sort((a, b) => a.start - b.start);
      out[short] = [value.base, ...tiers.flatMap((tier) => [tier.start, tier.price])];
    }
  }
  return out;
}

function packageFile(name: string): string {
  const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices');
  return readFileSync(join(dirname(entry), '..', name), 'utf8');
}

function packageVersion(): string {
  return (JSON.parse(packageFile('package.json')) as { version: string }).version;
}

function notice(): string {
  const licence = packageFile('LICENSE').replace(/\s+/g, ' ').trim();
  return `Generated by scripts/build-prices.ts from the npm package @pydantic/genai-prices ${packageVersion()}, which is under this licence: ${licence}`;
}

/** One row a line, so that a change of prices reads well in a diff. */
function render(table: PriceTable): string {
  const sellers = Object.entries(table.sellers).map(([id, { models, ...rest }]) => {
    const head = JSON.stringify(rest).slice(1, -1);
    const rows = models.map((model) => JSON.stringify(model)).join(',\n');
    return `${JSON.stringify(id)}:{${head === '' ? '' : `${head},`}"models":[\n${rows}\n]}`;
  });
  const head = `"source":${JSON.stringify(table.source)},\n"notice":${JSON.stringify(table.notice)}`;
  return `{${head},\n"sellers":{\n${sellers.join(',\n')}\n}}\n`;
}

function committed(): string | null {
  try {
    return readFileSync(target, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const text = render(build());
if (!flags.check) {
  writeFileSync(target, text);
} else if (committed() !== text) {
  process.stderr.write('src/catalog/prices.gen.json is out of date: run `node scripts/build-prices.ts`\n');
  process.exitCode = 1;
}
