const prefixes = [
  '/modelgate.events.v1.EventConfigService/',
  '/io.opensergo.proto.transport.v1.OpenSergoUniversalTransportService/',
];

/** Whether a path is one of the event service's, by Connect or gRPC. */
export function isEventServicePath(path: string): boolean {
  return prefixes.some((prefix) => path.startsWith(prefix));
}
