import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with a request: an answer with this status, no answer, or none after it was carried out. */
export type S3Fault = number | 'cut' | 'lost';

export interface S3Stub {
  readonly url: string;
  /** By their paths, with the bucket. */
  readonly objects: Map<string, Buffer>;
  /** Requests so far: `PUT /bucket/key`. */
  readonly requests: string[];
  fails(rule: (request: string) => S3Fault | null): void;
  close(): void;
}

const PAGE_KEYS = 3;

/** A small object store that speaks as much of S3 as a log of segments needs, and enforces `If-None-Match`. */
export async function startS3(): Promise<S3Stub> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  let fault: (request: string) => S3Fault | null = () => null;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://stub');
      const name = `${request.method} ${url.pathname}`;
      requests.push(name);
      const wrong = fault(name);
      if (wrong === 'cut') return request.socket.destroy();
      if (typeof wrong === 'number') return response.writeHead(wrong).end('<Code>Planted</Code>');
      if (!/^AWS4-HMAC-SHA256 Credential=stub-key\//.test(request.headers.authorization ?? ''))
        return response.writeHead(403).end('<Code>AccessDenied</Code>');
      const status = carriedOut(request, url, body, response);
      if (wrong === 'lost') return request.socket.destroy();
      if (status !== null) response.writeHead(status).end();
    });
  });
  const carriedOut = (
    { headers, method }: IncomingMessage,
    { pathname, searchParams }: URL,
    body: Buffer,
    response: ServerResponse,
  ): number | null => {
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && objects.has(pathname)) return 412;
      objects.set(pathname, body);
      return 200;
    }
    if (method === 'DELETE') {
      objects.delete(pathname);
      return 204;
    }
    if (searchParams.get('list-type') === '2') {
      response.writeHead(200).end(listed(objects, pathname, searchParams));
      return null;
    }
    const found = objects.get(pathname);
    if (found === undefined) return 404;
    response.writeHead(200).end(found);
    return null;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    fails(rule) {
      fault = rule;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A page of keys; the token is the last key of the page before. */
function listed(objects: ReadonlyMap<string, Buffer>, bucketPath: string, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const keys = [...objects.keys()]
    .map((path) => path.slice(bucketPath.length))
    .filter((key) => key.startsWith(prefix) && key > after)
    .sort();
  const page = keys.slice(0, PAGE_KEYS);
  const next = keys.length > page.length ? page.at(-1) : undefined;
  return `<ListBucketResult>${page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}${
    next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
  }</ListBucketResult>`;
}
