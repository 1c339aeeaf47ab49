import { CLOSE_LIST, COLON, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpace } from '../codecs/json-bytes.ts';

/** What a request needs of a model. Each is found when it is first asked for, in the bytes of the body. */
export interface Needs {
  tools(): boolean;
  images(): boolean;
  /** About how many tokens it is; null where its bytes do not tell, as with pictures and files. */
  tokens(): number | null;
}

/** Half prose, half code and JSON, in the tokenizers of the large vendors. */
const BYTES_PER_TOKEN = 4;

/**
 * Looks for the words of all formats, as they stand in JSON: the quotes of a word in a text are escaped. A schema of a
 * tool may use the same words; whoever goes by this must be able to be wrong.
 */
export function needsOf(body: readonly Buffer[]): Needs {
  const some = (found: (piece: Buffer) => boolean) => body.some(found);
  const tools = once(() => some((piece) => listed(piece, TOOLS) || listed(piece, FUNCTIONS)));
  const images = once(() => some(showsImage));
  const opaque = once(() => images() || some((piece) => OPAQUE.some((word) => piece.includes(word))));
  const tokens = once(() => {
    if (opaque()) return null;
    return Math.ceil(body.reduce((sum, { length }) => sum + length, 0) / BYTES_PER_TOKEN);
  });
  return { tools, images, tokens };
}

const word = (text: string) => Buffer.from(`"${text}"`);

const TYPE = word('type');
const TOOLS = word('tools');
const FUNCTIONS = word('functions');
/** A picture of the chat, the responses and the messages format, as the value of `type`. */
const IMAGE_TYPES = ['image_url', 'input_image', 'image'].map(word);
/** Pictures of Gemini (as members with an object) and Ollama (as a list). */
const INLINE = ['inlineData', 'inline_data', 'fileData', 'file_data'].map(word);
const IMAGES = word('images');
/** Other content whose bytes are no measure of its tokens. */
const OPAQUE = [
  word('base64'),
  word('input_file'),
  word('input_audio'),
  word('file'),
  Buffer.from(';base64,'),
];

function showsImage(piece: Buffer): boolean {
  return (
    IMAGE_TYPES.some((type) => everyPlace(piece, type, (at) => isValueOf(piece, at, TYPE))) ||
    INLINE.some((key) => everyPlace(piece, key, (at) => opens(piece, at + key.length, OPEN_OBJECT))) ||
    listed(piece, IMAGES)
  );
}

/** Whether a member of that name has a list that is not empty. */
function listed(piece: Buffer, key: Buffer): boolean {
  return everyPlace(piece, key, (at) => opens(piece, at + key.length, OPEN_LIST));
}

/** Whether any place of `text` fits. */
function everyPlace(piece: Buffer, text: Buffer, fits: (at: number) => boolean): boolean {
  let at = piece.indexOf(text);
  while (at !== -1) {
    if (fits(at)) return true;
    at = piece.indexOf(text, at + text.length);
  }
  return false;
}

/** Whether a colon and a filled object or list follow. */
function opens(piece: Buffer, after: number, bracket: number): boolean {
  const colon = skipSpace(piece, after);
  if (piece[colon] !== COLON) return false;
  const open = skipSpace(piece, colon + 1);
  if (piece[open] !== bracket) return false;
  return bracket === OPEN_OBJECT || piece[skipSpace(piece, open + 1)] !== CLOSE_LIST;
}

/** Whether the string at `at` is the value of the member `key`. */
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

function once<T>(find: () => T): () => T {
  let found: { value: T } | null = null;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}
