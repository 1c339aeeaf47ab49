import { sourceOfUrl } from '../files/data-url.ts';
import { imageTypeOf } from '../files/image-type.ts';
import type { ImageSource } from '../model/stream-part.ts';

/** The vendor has base64 alone and reads the type off the bytes; clients send addresses of data as well. */
export function sourceOf(image: string): ImageSource {
  if (/^(?:data|https?):/i.test(image)) return sourceOfUrl(image);
  return { kind: 'data', mediaType: imageTypeOf(image) ?? 'image/png', base64: image };
}
