import type { ChannelScheme } from './config.ts';

interface SchemeRule {
  readonly scheme: ChannelScheme;
  /** The address names a server. */
  readonly needsHost: boolean;
}

const local = (scheme: ChannelScheme): SchemeRule => ({ scheme, needsHost: false });
const remote = (scheme: ChannelScheme): SchemeRule => ({ scheme, needsHost: true });

/** How an address begins → the message queue. */
const schemes: Readonly<Record<string, SchemeRule>> = {
  memory: local('memory'),
  sqlite: local('sqlite'),
  postgres: remote('postgres'),
  postgresql: remote('postgres'),
  nats: remote('nats'),
  tls: remote('nats'),
  redis: remote('redis'),
  rediss: remote('redis'),
  amqp: remote('amqp'),
  amqps: remote('amqp'),
  mqtt: remote('mqtt'),
  mqtts: remote('mqtt'),
  kafka: remote('kafka'),
};

const reference = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;
const secretParameter = /pass|secret|token|key|credential/i;

export type CheckedUrl = { ok: true; scheme: ChannelScheme } | { ok: false; message: string };

/**
 * Checks the address of a message queue. Passwords must be references to environment variables, `${NAME}`, so that the
 * configuration can be shown and passed on.
 */
export function checkChannelUrl(url: string): CheckedUrl {
  if (url === '') return refuse(`The address is missing. Write one that begins with ${schemeList()}`);
  const name = url.slice(0, url.indexOf(':')).toLowerCase();
  if (!url.includes(':') || !Object.hasOwn(schemes, name))
    return refuse(`No message queue has this kind of address. Write one that begins with ${schemeList()}`);
  const rule = schemes[name];
  const plain = url.replace(reference, 'x');
  if (rule === undefined || plain.includes('${'))
    return refuse(`A reference to an environment variable is written \${NAME}`);
  if (!URL.canParse(withOneHost(plain))) return refuse('The address is not a valid URL');
  const parsed = new URL(withOneHost(plain));
  if (rule.needsHost && parsed.hostname === '') return refuse('The address names no server');
  return literalSecret(url)
    ? refuse(
        `The address has a password in it. Put it into an environment variable and write \${NAME} in its place`,
      )
    : { ok: true, scheme: rule.scheme };
}

const refuse = (message: string): CheckedUrl => ({ ok: false, message });

const schemeList = (): string =>
  Object.keys(schemes)
    .map((name) => `${name}:`)
    .join(', ');

/** Clusters are written as `kafka://one:9092,two:9092`, which no URL may be. */
function withOneHost(url: string): string {
  if (!url.includes('//')) return url;
  const start = url.indexOf('//') + 2;
  const end = /[/?#]/.exec(url.slice(start))?.index ?? url.length - start;
  const authority = url.slice(start, start + end);
  const at = authority.lastIndexOf('@') + 1;
  const host = authority.slice(at).split(',')[0] ?? '';
  return url.slice(0, start) + authority.slice(0, at) + host + url.slice(start + end);
}

function literalSecret(url: string): boolean {
  const [, authority = ''] = /^[^:]+:\/\/([^/?#]*)@/.exec(url) ?? [];
  const colon = authority.indexOf(':');
  if (colon !== -1 && !isReference(authority.slice(colon + 1))) return true;
  const query = url.split('#')[0]?.split('?').slice(1).join('?') ?? '';
  return query.split('&').some((parameter) => {
    const equals = parameter.indexOf('=');
    return (
      equals > 0 &&
      secretParameter.test(parameter.slice(0, equals)) &&
      !isReference(parameter.slice(equals + 1))
    );
  });
}

const isReference = (text: string): boolean => text === '' || /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);

interface TopicRule {
  readonly isValid: (topic: string) => boolean;
  readonly message: string;
}

const shortText: TopicRule = {
  isValid: (topic) => Buffer.byteLength(topic) <= 255 && !/[\0-\x1f\x7f]/.test(topic),
  message: 'A topic has at most 255 bytes and no control characters',
};

const topicRules: Readonly<Record<ChannelScheme, TopicRule>> = {
  memory: shortText,
  sqlite: shortText,
  postgres: shortText,
  redis: shortText,
  amqp: shortText,
  nats: {
    isValid: (topic) =>
      /^[^\0-\x20*>\x7f]+$/.test(topic) &&
      topic.split('.').every((token) => token !== '') &&
      topic.length <= 255,
    message: 'A subject of NATS has no white space, no * and no >, and no empty part between dots',
  },
  mqtt: {
    isValid: (topic) => !/[+#\0]/.test(topic) && Buffer.byteLength(topic) <= 65_535,
    message: 'A topic of MQTT has no + and no #',
  },
  kafka: {
    isValid: (topic) => /^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== '.' && topic !== '..',
    message: 'A topic of Kafka has at most 249 letters, digits, dots, underscores and dashes',
  },
};

/** @returns what is wrong with the topic, or null */
export function topicProblem(scheme: ChannelScheme, topic: string): string | null {
  if (topic === '') return 'The topic is missing';
  const rule = topicRules[scheme];
  return rule.isValid(topic) ? null : rule.message;
}
