import { z } from 'zod';

/** A login at a provider that speaks OAuth 2.0, as the owner describes it. */
const oauthClient = z.strictObject({
  /** Where the endpoints are found (RFC 8414, OpenID Connect Discovery), unless they are given. */
  issuer: z.string().nullable(),
  authorizationUrl: z.string().nullable(),
  tokenUrl: z.string().nullable(),
  deviceUrl: z.string().nullable(),
  clientId: z.string(),
  clientSecret: z.string().nullable(),
  scopes: z.array(z.string()),
  audience: z.string().nullable(),
  /** Registered at the provider; null for the loopback address of the program that logs in (RFC 8252). */
  redirectUri: z.string().nullable(),
});

export type OAuthClient = z.infer<typeof oauthClient>;

/** How a client names itself to the token endpoint (RFC 6749, 2.3.1). */
const clientAuth = z.enum(['none', 'basic', 'post']);
export type ClientAuth = z.infer<typeof clientAuth>;

/** What a login gave. Times in milliseconds since the epoch. */
const grant = z.strictObject({
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  issuedAt: z.number(),
  /** Null where the server did not say. */
  expiresAt: z.number().nullable(),
  /** As the server granted them; null when it did not say. */
  scope: z.string().nullable(),
  /** Where it is renewed. */
  tokenUrl: z.string(),
  clientAuth,
});

export type Grant = z.infer<typeof grant>;

export const oauthAccount = z.strictObject({
  kind: z.literal('oauth'),
  client: oauthClient,
  /** Null until the login, and again when the server has ended the login. */
  grant: grant.nullable(),
});

export type OAuthAccount = z.infer<typeof oauthAccount>;

/** Google's key file of a service account, as far as it is used. */
export const serviceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().min(1),
  private_key_id: z.string().optional(),
  private_key: z.string().includes('PRIVATE KEY'),
  client_email: z.string().min(1),
  token_uri: z.url().default('https://oauth2.googleapis.com/token'),
});

export type ServiceAccount = z.infer<typeof serviceAccount>;

/** An application that logs in for itself (RFC 6749, 4.4): Microsoft Entra. */
export const clientCredentials = z.strictObject({
  tenant_id: z.string().regex(/^[A-Za-z0-9.-]+$/, 'a tenant is an id or a domain'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  /** Another authority than the provider's own, e.g. of a national cloud. */
  token_url: z.url().optional(),
  scope: z.string().min(1).optional(),
});

export type ClientCredentials = z.infer<typeof clientCredentials>;

export const awsKeys = z.strictObject({
  access_key_id: z.string().regex(/^[A-Za-z0-9]+$/, 'an access key id has letters and digits'),
  secret_access_key: z.string().regex(/^[\x21-\x7e]+$/, 'it has blanks or line ends'),
  session_token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'it has blanks or line ends')
    .optional(),
  region: z.string().regex(/^[a-z0-9-]+$/, 'a region is e.g. us-east-1'),
});

export type AwsKeys = z.infer<typeof awsKeys>;

/** A credential that is more than a key. */
export type Account =
  | OAuthAccount
  | { kind: 'service-account'; fields: ServiceAccount }
  | { kind: 'client-credentials'; fields: ClientCredentials }
  | { kind: 'aws-keys'; fields: AwsKeys };
