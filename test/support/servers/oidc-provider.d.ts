/** The package has no types of its own; `oidc.ts` says what it uses of it. */
declare module 'oidc-provider' {
  export const Provider: new (issuer: string, configuration: object) => object;
}
