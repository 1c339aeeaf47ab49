import {
  CLOSE_LIST,
  COLON,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  valueStart,
} from '../../codecs/json/bytes.ts';

/** What a request needs of a model. The bytes of the body are read once, when something in them is first asked for. */
export interface RequestFeatures {
  tools(): boolean;
  images(): boolean;
  /** About how many tokens it is; null where its bytes do not tell, as with pictures and files. */
  tokens(): number | null;
  /** It is no more tokens than this, whatever its bytes are. */
  maxTokens: number;
}

/** Half prose, half code and JSON, in the tokenizers of the large vendors. */
const BYTES_PER_TOKEN = 4;

/**
 * Looks for the words of all formats, as they stand in JSON: the quotes of a word in a text are escaped. A schema of a
 * tool may use the same words; code that uses this must tolerate a wrong guess.
 */
export function featuresOf(body: readonly Buffer[]): RequestFeatures {
  let seen: BodyFeatures | null = null;
  const look = () => (seen ??= lookThrough(body));
  const maxTokens = Math.ceil(body.reduce((sum, { length }) => sum + length, 0) / BYTES_PER_TOKEN);
  return {
    tools: () => look().tools,
    images: () => look().images,
    tokens: () => (look().images || look().opaque ? null : maxTokens),
    maxTokens,
  };
}

interface BodyFeatures {
  tools: boolean;
  images: boolean;
  /** Other content whose bytes are no measure of its tokens. */
  opaque: boolean;
}

interface FeatureMarker {
  tells: keyof BodyFeatures;
  /** Whether it stands at `start` to `end` as what it tells. */
  fits(piece: Buffer, start: number, end: number): boolean;
}

const TYPE = Buffer.from('"type"');
const hasList = (piece: Buffer, _: number, end: number) => opens(piece, end, OPEN_LIST);
const tools: FeatureMarker = { tells: 'tools', fits: hasList };
const imageList: FeatureMarker = { tells: 'images', fits: hasList };
const imageType: FeatureMarker = { tells: 'images', fits: (piece, start) => isValueOf(piece, start, TYPE) };
const imageObject: FeatureMarker = {
  tells: 'images',
  fits: (piece, _, end) => opens(piece, end, OPEN_OBJECT),
};
const opaque: FeatureMarker = { tells: 'opaque', fits: () => true };

const words: ReadonlyMap<string, FeatureMarker> = new Map([
  ...named(tools, '"tools"', '"functions"'),
  // Pictures of the chat, the responses and the messages format, of Gemini and of Ollama.
  ...named(imageType, '"image_url"', '"input_image"', '"image"'),
  ...named(imageObject, '"inlineData"', '"inline_data"', '"fileData"', '"file_data"'),
  ...named(imageList, '"images"'),
  ...named(opaque, '"base64"', '"input_file"', '"input_audio"', '"file"', ';base64,'),
]);
const anyWord = new RegExp([...words.keys()].join('|'), 'g');

function named(word: FeatureMarker, ...texts: string[]): [string, FeatureMarker][] {
  return texts.map((text) => [text, word]);
}

/** A word is found in two windows rather than in none. */
const WINDOW_BYTES = 65_536;
const OVERLAP_BYTES = 16;

/**
 * One pass for all words, over the body as text: an expression finds all of them there in the time that a search in the
 * bytes, which stops at every quote, takes for one or two.
 */
function lookThrough(body: readonly Buffer[]): BodyFeatures {
  const seen: BodyFeatures = { tools: false, images: false, opaque: false };
  for (const piece of body) {
    for (let from = 0; from < piece.length; from += WINDOW_BYTES) {
      const window = piece.toString('latin1', from, from + WINDOW_BYTES + OVERLAP_BYTES);
      for (const { 0: text, index } of window.matchAll(anyWord)) {
        const word = words.get(text);
        if (word === undefined || seen[word.tells]) continue;
        seen[word.tells] = word.fits(piece, from + index, from + index + text.length);
      }
    }
  }
  return seen;
}

/** Whether a colon and a filled object or list follow. */
function opens(piece: Buffer, after: number, bracket: number): boolean {
  const open = valueStart(piece, after);
  if (piece[open] !== bracket) return false;
  return bracket === OPEN_OBJECT || piece[skipSpace(piece, open + 1)] !== CLOSE_LIST;
}

/** Whether the string at `at` is the value of the field `key`. */
function isValueOf(piece: Buffer, at: number, key: Buffer): boolean {
  const colon = skipSpaceBack(piece, at - 1);
  if (piece[colon] !== COLON) return false;
  const end = skipSpaceBack(piece, colon - 1);
  if (piece[end] !== QUOTE) return false;
  const start = end + 1 - key.length;
  return start >= 0 && piece.compare(key, 0, key.length, start, end + 1) === 0;
}

function skipSpaceBack(piece: Buffer, from: number): number {
  let index = from;
  while (index >= 0 && (piece[index] ?? 0) <= 0x20) index -= 1;
  return index;
}
