import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What something cost the metered process. */
export interface Cost {
  /** CPU time of all its threads, in milliseconds. */
  cpuMs: number;
  /** How far its heap and what hangs on it (buffers, zlib) rose above the start, in bytes. */
  bytes: number;
}

/** Reads the CPU time and the memory of a process that was started with `env`. */
export interface Meter {
  env: Readonly<Record<string, string>>;
  /** Connects to the process, which must run by now. */
  open(): Promise<void>;
  /** What `work` costs the process, with what else it did meanwhile; begun once no connection is open any more. */
  cost(work: () => Promise<unknown>): Promise<Cost>;
  /** What the process holds after a garbage collection, in bytes: its heap and what hangs on it. */
  heldBytes(): Promise<number>;
  /**
   * How long a fixed piece of work takes the process, in milliseconds of CPU: 20 on a desktop of 2022. What is bounded
   * by it holds on any machine.
   */
  yardstickMs(): Promise<number>;
  /** Moves the clock of the process, so that its throttles forget. */
  advance(seconds: number): Promise<void>;
  close(): void;
}

/** Answers one word per line on a socket of its own, beside the program and unknown to it. */
const preloaded = `
  import { rmSync } from 'node:fs';
  import net from 'node:net';
  import { createInterface } from 'node:readline';
  import v8 from 'node:v8';
  import vm from 'node:vm';
  import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  // What a wrong password costs is meant to cost it, and is throttled.
  const scrypt = crypto.scrypt;
  crypto.scrypt = (password, salt, length, options, done) =>
    scrypt(password, salt, length, { ...options, N: 1024, cost: undefined }, done);
  syncBuiltinESMExports();
  v8.setFlagsFromString('--expose-gc');
  const gc = vm.runInNewContext('gc');
  const real = Date.now.bind(Date);
  let offset = 0;
  Date.now = () => real() + offset;
  const used = ({ usedHeapSize, externalMemory }) => usedHeapSize + externalMemory;
  const now = () => {
    const heap = v8.getHeapStatistics();
    return used({ usedHeapSize: heap.used_heap_size, externalMemory: heap.external_memory });
  };
  let profiler, cpu, heap;
  const cpuMs = (since) => {
    const { system, user } = process.cpuUsage(since);
    return (system + user) / 1000;
  };
  // What earlier connections left to be read is work too, and not that which is asked about.
  const idle = async () => {
    while (process.getActiveResourcesInfo().includes('TCPSocketWrap'))
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const words = {
    async begin() {
      await idle();
      profiler = new v8.GCProfiler();
      profiler.start();
      heap = now();
      cpu = process.cpuUsage();
      return 0;
    },
    async end() {
      await idle();
      const spent = cpuMs(cpu);
      const peaks = profiler.stop().statistics.map(({ beforeGC }) => used(beforeGC.heapStatistics));
      return { cpuMs: spent, bytes: Math.max(now(), ...peaks) - heap };
    },
    held() {
      gc();
      gc();
      return now();
    },
    yardstick() {
      const text = 'a'.repeat(1000) + 'b';
      const begun = process.cpuUsage();
      let sum = 0;
      for (let round = 0; round < 6000; round += 1)
        for (let index = 0; index < text.length; index += 1) sum = (sum * 31 + text.charCodeAt(index)) | 0;
      return { cpuMs: cpuMs(begun), sum };
    },
    advance(seconds) {
      offset += Number(seconds) * 1000;
      return 0;
    },
  };
  if (process.env.TEST_METER !== undefined && process.argv.includes('serve')) {
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      createInterface({ input: socket }).on('line', async (line) => {
        const [word, argument] = line.split(' ');
        socket.write(JSON.stringify(await words[word](argument)) + '\\n');
      });
      socket.unref();
    });
    rmSync(process.env.TEST_METER, { force: true });
    server.listen(process.env.TEST_METER);
    server.unref();
  }
`;

export function createMeter(): Meter {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-meter-'));
  const path = join(folder, 'socket');
  let ask = (_word: string): Promise<unknown> => Promise.reject(new Error('the meter is not open'));
  let close = () => {};
  return {
    env: { TEST_METER: path, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded)}` },
    async open() {
      const socket = connect(path);
      await once(socket, 'connect');
      const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
      close = () => socket.destroy();
      ask = async (word) => {
        socket.write(`${word}\n`);
        const { done, value } = await lines.next();
        if (done === true) throw new Error('the metered process has ended');
        return JSON.parse(value) as unknown;
      };
    },
    async cost(work) {
      await ask('begin');
      await work();
      return (await ask('end')) as Cost;
    },
    heldBytes: async () => Number(await ask('held')),
    async yardstickMs() {
      const runs: number[] = [];
      for (let run = 0; run < 5; run += 1) runs.push(((await ask('yardstick')) as Cost).cpuMs);
      return Math.min(...runs);
    },
    advance: async (seconds) => void (await ask(`advance ${seconds}`)),
    close() {
      close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
