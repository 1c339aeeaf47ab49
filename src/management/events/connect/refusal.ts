import type { ErrorKind, GatewayError } from '../../../lib/error.ts';
import type { Answer } from '../../answer.ts';

/** An error's code by its name in Connect, and by its number in gRPC. */
interface StatusCode {
  readonly name: string;
  readonly number: number;
}

const codes: Readonly<Record<ErrorKind, StatusCode>> = {
  invalid_request: { name: 'invalid_argument', number: 3 },
  timeout: { name: 'deadline_exceeded', number: 4 },
  not_found: { name: 'not_found', number: 5 },
  permission: { name: 'permission_denied', number: 7 },
  rate_limit: { name: 'resource_exhausted', number: 8 },
  too_large: { name: 'resource_exhausted', number: 8 },
  billing: { name: 'failed_precondition', number: 9 },
  server: { name: 'internal', number: 13 },
  overloaded: { name: 'unavailable', number: 14 },
  authentication: { name: 'unauthenticated', number: 16 },
};

const unimplemented: StatusCode = { name: 'unimplemented', number: 12 };

/**
 * An error as a client of gRPC, of gRPC-Web or of Connect reads it: in the headers of an answer without a body, or as JSON.
 * @param contentType of the request, which names the protocol
 */
export function callRefusal(error: GatewayError, contentType: string | undefined): Answer {
  const { name, number } = error.code === 'method_not_allowed' ? unimplemented : codes[error.kind];
  const grpc = grpcType(contentType);
  if (grpc === null)
    return { status: error.status, headers: {}, body: { code: name, message: error.message } };
  const headers = {
    'content-type': grpc,
    'grpc-status': String(number),
    'grpc-message': escaped(error.message),
  };
  return { status: 200, headers, body: null };
}

/** The content type where it is one of gRPC or gRPC-Web; else null. */
export function grpcType(contentType = ''): string | null {
  const [type = ''] = contentType.split(';', 1);
  return /^application\/grpc(?:-web)?(?:\+[a-z]+)?$/.test(type.trim()) ? type.trim() : null;
}

/** As gRPC writes texts into headers: bytes of UTF-8 other than printable ASCII, and `%`, in hexadecimal. */
function escaped(message: string): string {
  let text = '';
  for (const byte of Buffer.from(message))
    text +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return text;
}
