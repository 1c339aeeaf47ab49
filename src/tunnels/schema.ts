import { z } from 'zod';

const instant = z.iso.datetime();

export const tunnelKindId = z.enum(['cloudflared', 'tailscale', 'ngrok']);

/** `absent`: none was created. `waiting`: it ended, and is started again after a pause. */
export const tunnelState = z.enum(['absent', 'stopped', 'starting', 'running', 'waiting']);

/** A tunnel as it is shown. There is one of each kind, created or not. */
export const tunnelRow = z.object({
  id: tunnelKindId,
  name: z.string(),
  /** Whether its program was found. */
  installed: z.boolean(),
  program: z.string().nullable(),
  state: tunnelState,
  desired_state: z.enum(['running', 'stopped']).nullable(),
  /** Where the gateway can be reached from the internet; null while it cannot. */
  url: z.string().nullable(),
  /** The name that was reserved for it. */
  domain: z.string().nullable(),
  created_at: instant.nullable(),
  /** When the program was last started. */
  started_at: instant.nullable(),
  /** How often it ended by itself since the gateway was started. */
  failures: z.int(),
  last_error: z.object({ message: z.string(), at: instant }).nullable(),
});

export const newTunnel = z.strictObject({
  kind: tunnelKindId,
  /** A name that is reserved for it at ngrok: `gateway.example.com`. */
  domain: z
    .string()
    .max(253)
    .regex(
      /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$/,
      'a domain is a name such as gateway.example.com',
    )
    .nullable()
    .optional(),
});

export type TunnelState = z.infer<typeof tunnelState>;
export type TunnelId = z.infer<typeof tunnelKindId>;
