import { textOf } from '../json/values.ts';
import type { ImageSource } from '../model/stream-part.ts';
import type { ResponsesItem } from './wire.ts';

/** A picture that the vendor's own tool made (API reference, "Image generation call"). */
export const IMAGE_CALL = 'image_generation_call';

/** The image in such an item; null for any other item, and before there is an image. */
export function imageIn(item: ResponsesItem): Extract<ImageSource, { kind: 'data' }> | null {
  const base64 = textOf(item.result);
  if (item.type !== IMAGE_CALL || base64 === '') return null;
  return { kind: 'data', mediaType: `image/${textOf(item.output_format) || 'png'}`, base64 };
}
