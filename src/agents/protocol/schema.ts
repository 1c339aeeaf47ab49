import { z } from 'zod';
import { toolKinds } from '../schema.ts';

/**
 * What agents send, as far as the gateway reads it. Fields that are not named are let pass, and what only some agents
 * send is optional: eleven programs speak this protocol, each in the version that it was built with.
 */

/** The version of the protocol that the gateway speaks. */
export const protocolVersion = 1;

export const initialized = z.object({
  protocolVersion: z.number(),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().nullish(),
      promptCapabilities: z
        .object({ image: z.boolean().nullish(), embeddedContext: z.boolean().nullish() })
        .nullish(),
      sessionCapabilities: z.looseObject({ close: z.unknown().optional() }).nullish(),
    })
    .nullish(),
  agentInfo: z.object({ name: z.string(), version: z.string().nullish() }).nullish(),
  authMethods: z.array(z.object({ id: z.string(), name: z.string().nullish() })).nullish(),
});
export type InitializeResponse = z.infer<typeof initialized>;

const choice = z.object({ value: z.string(), name: z.string().nullish() });

/** A setting of a session that the client may change; choices may stand in groups. */
const configOption = z.object({
  id: z.string(),
  category: z.string().nullish(),
  currentValue: z.unknown().optional(),
  options: z.array(z.union([choice, z.object({ options: z.array(choice) })])).nullish(),
});

export const openedSession = z.object({
  sessionId: z.string().optional(),
  models: z
    .object({
      currentModelId: z.string().nullish(),
      availableModels: z.array(z.object({ modelId: z.string(), name: z.string().nullish() })).nullish(),
    })
    .nullish(),
  configOptions: z.array(configOption).nullish().catch(null),
});
export type OpenedSession = z.infer<typeof openedSession>;

const tokens = z.number().int().nonnegative();

export const promptResult = z.object({
  stopReason: z.string(),
  usage: z
    .object({
      inputTokens: tokens,
      outputTokens: tokens,
      cachedReadTokens: tokens.nullish(),
      cachedWriteTokens: tokens.nullish(),
      thoughtTokens: tokens.nullish(),
    })
    .nullish()
    .catch(null),
});

export const sessionUpdate = z.object({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string() }),
});

export const textChunk = z.object({ content: z.object({ type: z.literal('text'), text: z.string() }) });

export const toolCall = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  kind: z.enum(toolKinds).nullish().catch('other'),
  status: z.string().nullish(),
});

export const plan = z.object({
  entries: z.array(z.object({ content: z.string(), status: z.string().nullish() })),
});

export const permissionRequest = z.object({
  sessionId: z.string(),
  toolCall,
  options: z.array(z.object({ optionId: z.string(), name: z.string().nullish(), kind: z.string() })),
});
export type PermissionRequest = z.infer<typeof permissionRequest>;

export const readTextFile = z.object({
  sessionId: z.string(),
  path: z.string(),
  line: z.number().int().nonnegative().nullish(),
  limit: z.number().int().nonnegative().nullish(),
});

export const writeTextFile = z.object({ sessionId: z.string(), path: z.string(), content: z.string() });

export const createTerminal = z.object({
  sessionId: z.string(),
  command: z.string(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  cwd: z.string().nullish(),
  outputByteLimit: z.number().int().nonnegative().nullish(),
});
export type CreateTerminal = z.infer<typeof createTerminal>;

export const ofTerminal = z.object({ sessionId: z.string(), terminalId: z.string() });
