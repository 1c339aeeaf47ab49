import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../gateway/gateway.ts';
import {
  accepts,
  freePort,
  installed,
  type PrivateBroker,
  startBroker,
  startServer,
} from './server-process.ts';

/** Debian's wrapper in the PATH becomes the user `rabbitmq`, who may not write into the folders of tests. */
const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export const hasRabbitmq = installed('rabbitmq-server', 'epmd');

export interface PrivateRabbitmq extends PrivateBroker {
  /**
   * Resolves when a queue is there for good. RabbitMQ 3.10 writes the names of new quorum queues after half a second: one that
   * is killed before has the queue and cannot use it, ever.
   */
  keeps(queue: string): Promise<void>;
  stop(): Promise<void>;
}

/** A RabbitMQ node with a name, ports, a cookie and a port mapper of its own. @param folder keeps its data */
export async function startRabbitmq(folder: string): Promise<PrivateRabbitmq> {
  const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string) => join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file('.erlang.cookie'), 'ofthistest', { mode: 0o400 });
  writeFileSync(file('plugins'), '[].');
  writeFileSync(file('rabbitmq.conf'), `listeners.tcp.local = 127.0.0.1:${port}\nlog.file.level = warning\n`);
  const env = {
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: file('data'),
    RABBITMQ_LOG_BASE: file('log'),
    RABBITMQ_CONFIG_FILE: file('rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: file('plugins'),
    RABBITMQ_GENERATED_CONFIG_DIR: file('generated'),
    // One scheduler that does not spin: the tests beside it need the processor.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -noinput',
  };
  const ports = await startServer({
    command: 'epmd',
    args: ['-port', String(epmdPort), '-address', '127.0.0.1'],
    ready: () => accepts(epmdPort),
  });
  const broker = await startBroker(`amqp://127.0.0.1:${port}`, port, {
    command: program,
    args: [],
    env,
    ready: () => accepts(port),
  });
  return {
    ...broker,
    async keeps(queue) {
      await waitFor(`the queue ${queue}`, () =>
        globSync(file('data/*/quorum/*/names.dets')).some((names) => readFileSync(names).includes(queue)),
      );
    },
    async stop() {
      await broker.kill();
      await ports.kill();
    },
  };
}
