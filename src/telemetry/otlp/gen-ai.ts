import { codecs } from '../../codecs/index.ts';
import type { Codec } from '../../codecs/wire-codec.ts';

/**
 * What OpenTelemetry's conventions for generative AI call things (opentelemetry.io/docs/specs/semconv/gen-ai). A value that
 * they do not list is a name of one's own, as they allow.
 */

/** `gen_ai.operation.name` of a request in a wire format. */
export function operationOf(format: string): string {
  return codecNamed(format)?.operation ?? 'chat';
}

const providers: Readonly<Record<string, string>> = {
  'azure-openai': 'azure.ai.openai',
  'azure-openai-deployments': 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  'bedrock-openai': 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  'vertex-anthropic': 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
};

/** `gen_ai.provider.name` of a provider. */
export function providerNameOf(provider: string): string {
  return providers[provider] ?? provider;
}

/** The path of a wire format, for `http.route`: paths themselves may name models and hold keys. */
export function routeOf(format: string, streamed: boolean): string {
  const { path = '', pathTemplate } = codecNamed(format) ?? {};
  return pathTemplate?.[streamed ? 'stream' : 'whole'] ?? `/v1${path ?? ''}`;
}

/** The ledger may have formats of a later version. */
function codecNamed(format: string): Codec | undefined {
  return codecs.find((codec) => codec.format === format);
}
