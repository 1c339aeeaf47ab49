import { countOf, isCount, type JsonObject, objectOf } from '../json/values.ts';
import { passed } from '../passthrough/codec.ts';
import type { MediaAnswer, MediaCodec, MediaUsage } from '../passthrough/media.ts';
import { isEmptyUsage } from '../usage/token-counts.ts';
import { lastUsage, type UsageSearch } from '../usage/usage-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { noUsage, type Usage } from '../wire-format.ts';

const hasCounts = (counts: JsonObject) => isCount(counts['input_tokens']) || isCount(counts['output_tokens']);
const inBody: UsageSearch = { kind: 'body', maxDepth: 1, accepts: hasCounts };
const inStream: UsageSearch = { kind: 'stream', maxDepth: 1, accepts: hasCounts };

const images = (bodies: MediaCodec['bodies']): MediaCodec => ({
  bodies,
  counted: ['b64_json', 'url'],
  usageOfRequest: () => null,
  usageOfAnswer: imagesUsage,
});

/** The better qualities of gpt-image-1 at 1024 × 1024. */
const picture: Partial<Usage> = { imageOutput: 4_160, images: 1 };

/** `/v1/images/generations` (OpenAI API reference, `ImagesResponse`). */
export const openaiImages: Codec = {
  ...passed('openai-images', '/images/generations', images(['json'])),
  operation: 'image_generation',
  usualUsage: picture,
  requestFields: { answers: ['n'] },
};

/** `/v1/images/edits`: a form with the pictures, or JSON that names them by address or file id. */
export const openaiImageEdits: Codec = {
  ...passed('openai-image-edits', '/images/edits', images(['form', 'json'])),
  operation: 'image_edit',
  usualUsage: { imageInput: 1_000, ...picture },
};

/** Tokens where the model reports them (GPT Image), else the pictures themselves (DALL-E, FLUX, Grok). */
function imagesUsage({ counted, kind, tail }: MediaAnswer): MediaUsage | null {
  if (kind === 'other') return null;
  const usageObject = lastUsage(tail, kind === 'json' ? inBody : inStream);
  const usage = usageObject === null ? noUsage : tokensOf(usageObject.counts);
  if (!isEmptyUsage(usage)) return { usage, estimated: false };
  return counted === 0 ? null : { usage: { ...noUsage, images: counted }, estimated: false };
}

/** `input_tokens` are text and pictures; of `output_tokens` all are pictures unless the details say otherwise. */
function tokensOf(counts: JsonObject): Usage {
  const inputTokens = countOf(counts['input_tokens']);
  const outputTokens = countOf(counts['output_tokens']);
  const imageInput = Math.min(inputTokens, countOf(objectOf(counts['input_tokens_details'])['image_tokens']));
  const details = objectOf(counts['output_tokens_details']);
  const imageOutput = isCount(details['image_tokens'])
    ? Math.min(outputTokens, countOf(details['image_tokens']))
    : outputTokens;
  return {
    ...noUsage,
    input: inputTokens - imageInput,
    imageInput,
    output: outputTokens - imageOutput,
    imageOutput,
  };
}
