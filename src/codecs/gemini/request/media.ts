import { table } from '../../json/values.ts';
import type { AudioPart, FilePart, ImagePart, Source } from '../../model/conversation.ts';

/** What media are, by the beginning of their type; the others have no like in the neutral model. */
export type MediaKind = 'image' | 'audio' | 'file';

const kinds: readonly [string, MediaKind][] = [
  ['image/', 'image'],
  ['audio/', 'audio'],
  ['text/', 'file'],
  ['application/', 'file'],
];

export function kindOf(mimeType: string): MediaKind | null {
  return kinds.find(([start]) => mimeType.startsWith(start))?.[1] ?? null;
}

const typeOfExtension: Readonly<Record<string, string>> = table({
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  xml: 'text/xml',
  json: 'application/json',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
});

/** The type by the extension of an address; null when there is none. */
export function typeOfUrl(url: string): string | null {
  const path = /^[a-z]+:\/\/[^/]*([^?#]*)/i.exec(url)?.[1] ?? '';
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(typeOfExtension, extension) ? (typeOfExtension[extension] ?? null) : null;
}

/** The part that stands for media of `kind`; null for audio at an address, which only Google's models fetch. */
export function mediaPart(kind: MediaKind, source: Source): ImagePart | FilePart | AudioPart | null {
  if (kind !== 'audio') return { type: kind, source };
  if (source.kind !== 'data') return null;
  return { type: 'audio', format: audioFormatOf(source.mediaType), base64: source.base64 };
}

const audioFormats: Readonly<Record<string, string>> = table({
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
});

function audioFormatOf(mimeType: string): string {
  return audioFormats[mimeType] ?? mimeType.slice('audio/'.length);
}
