import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const CLIENTS = 4;
/** Far longer than the balancer takes to see it. */
const DELAY_MS = 10_000;

interface Balancer {
  url: string;
  /** What went wrong on the way to a gateway and back. */
  failures: readonly string[];
  /** Whether it sends requests to a gateway, by what `/readyz` answered last. */
  sendsTo(gateway: RunningGateway): boolean;
}

/** Sends each request to one of the gateways that are ready, once: what fails there fails for its client. */
async function startBalancer(t: TestContext, gateways: readonly RunningGateway[]): Promise<Balancer> {
  const ready = new Set<RunningGateway>();
  const failures: string[] = [];
  let turn = 0;
  const check = async (gateway: RunningGateway) => {
    const reply = await gateway.send({ method: 'GET', path: '/readyz' }).catch(() => null);
    if (reply?.status === 200) ready.add(gateway);
    else ready.delete(gateway);
  };
  let checking = true;
  const checks = (async () => {
    while (checking) {
      await Promise.all(gateways.map(check));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const server = createServer((incoming, response) => {
    turn += 1;
    const targets = [...ready];
    const target = targets[turn % targets.length];
    if (target === undefined) return void response.writeHead(502).end('nobody is ready');
    const { headers, method, url } = incoming;
    const passed = request({
      host: '127.0.0.1',
      port: target.port,
      path: url,
      method,
      headers,
      agent: false,
    });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', (error) => {
        failures.push(`a gateway broke off its answer: ${error}`);
        response.destroy();
      });
      answer.pipe(response);
    });
    passed.on('error', (error) => {
      failures.push(`a gateway did not answer: ${error}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(String(error));
    });
    incoming.pipe(passed);
  });
  // It ends no connection of a client, which may just then send its next request.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    checking = false;
    await checks;
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, failures, sendsTo: (gateway) => ready.has(gateway) };
}

describe('two gateways behind a load balancer', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('are restarted one after the other, and every request has its whole answer', async (t) => {
    const env = { DATABASE_URL: await postgres.database(), STORAGE_ENCRYPTION_KEY: SECRET };
    const config = { drain_delay_ms: DELAY_MS };
    const one = await startGateway({ env, config, keyName: 'first' });
    t.after(() => one.stopServing());
    const other = await startGateway({ env, config, keyName: 'second' });
    t.after(() => other.stopServing());
    const balancer = await startBalancer(t, [one, other]);
    await waitFor('both to be ready', () => balancer.sendsTo(one) && balancer.sendsTo(other));
    let done = false;
    let answered = 0;
    const wrong: string[] = [];
    const body = JSON.stringify({
      model: 'demo/echo',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const headers = { authorization: `Bearer ${one.key}`, 'content-type': 'application/json' };
    const client = async () => {
      while (!done) {
        const text = await fetch(`${balancer.url}/v1/chat/completions`, {
          method: 'POST',
          headers,
          body,
        }).then(
          async (reply) => `${reply.status} ${await reply.text()}`,
          (error: Error) => `broken: ${error.cause ?? error}`,
        );
        answered += 1;
        if (!text.startsWith('200 ') || !text.trimEnd().endsWith('[DONE]')) wrong.push(text.slice(0, 300));
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    for (const gateway of [one, other]) {
      const before = answered;
      await waitFor('some load', () => answered >= before + 10);
      const stopped = gateway.stopServing();
      await waitFor('the balancer to see that it stops', () => !balancer.sendsTo(gateway));
      await stopped;
      await gateway.restart();
      await waitFor('it to be ready again', () => balancer.sendsTo(gateway));
    }
    done = true;
    await Promise.all(clients);
    t.diagnostic(JSON.stringify({ answered, wrong: wrong.length }));
    assert.deepEqual([...balancer.failures, ...wrong], []);
  });
});
