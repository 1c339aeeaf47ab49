import { acp } from './acp.ts';
import { anthropic } from './anthropic.ts';
import { anthropicCompatible } from './anthropic-compatible.ts';
import { azureOpenai } from './azure-openai.ts';
import { azureOpenaiDeployments } from './azure-openai-deployments.ts';
import { bedrock } from './bedrock.ts';
import { bedrockOpenai } from './bedrock-openai.ts';
import { cerebras } from './cerebras.ts';
import { completionsCompatible } from './completions-compatible.ts';
import { deepseek } from './deepseek.ts';
import { demo } from './demo.ts';
import { directoryEntries, providerOfEntry } from './directory.ts';
import { fireworks } from './fireworks.ts';
import { gemini } from './gemini.ts';
import { geminiCompatible } from './gemini-compatible.ts';
import { groq } from './groq.ts';
import { llamaCpp } from './llama-cpp.ts';
import { lmStudio } from './lm-studio.ts';
import { minimax } from './minimax.ts';
import { mistral } from './mistral.ts';
import { moonshot } from './moonshot.ts';
import { nvidia } from './nvidia.ts';
import { ollama } from './ollama.ts';
import { ollamaCompatible } from './ollama-compatible.ts';
import { openai } from './openai.ts';
import { openaiCompatible } from './openai-compatible.ts';
import { openrouter } from './openrouter.ts';
import type { Provider } from './provider.ts';
import { qwen } from './qwen.ts';
import { responsesCompatible } from './responses-compatible.ts';
import { sapAiCore } from './sap-ai-core.ts';
import { together } from './together.ts';
import { vertex } from './vertex.ts';
import { vertexAnthropic } from './vertex-anthropic.ts';
import { vllm } from './vllm.ts';
import { xai } from './xai.ts';
import { zai } from './zai.ts';

/** Those with a file of their own, in the order in which they are shown. */
export const ownProviders: readonly Provider[] = [
  openai,
  anthropic,
  gemini,
  openrouter,
  groq,
  deepseek,
  mistral,
  xai,
  together,
  fireworks,
  cerebras,
  nvidia,
  moonshot,
  zai,
  qwen,
  minimax,
  azureOpenai,
  azureOpenaiDeployments,
  bedrock,
  bedrockOpenai,
  sapAiCore,
  vertex,
  vertexAnthropic,
  ollama,
  lmStudio,
  llamaCpp,
  vllm,
  openaiCompatible,
  responsesCompatible,
  completionsCompatible,
  anthropicCompatible,
  geminiCompatible,
  ollamaCompatible,
  demo,
  acp,
];

const byId: ReadonlyMap<string, Provider> = new Map(ownProviders.map((provider) => [provider.id, provider]));

let directory: ReadonlyMap<string, Provider> | null = null;

/** The providers of the data set models.dev that have no file of their own; read when they are first asked for. */
function listedProviders(): ReadonlyMap<string, Provider> {
  directory ??= new Map(
    directoryEntries().map((entry) => [entry.id, providerOfEntry(entry, byId.get(entry.like ?? ''))]),
  );
  return directory;
}

/** Every provider, those with a file of their own first. */
export function allProviders(): readonly Provider[] {
  return [...ownProviders, ...listedProviders().values()];
}

/** The provider with this id, or undefined. Ids are lower case and compared exactly. */
export function findProvider(id: string): Provider | undefined {
  return byId.get(id) ?? listedProviders().get(id);
}
