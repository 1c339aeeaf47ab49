import { after, before } from 'node:test';
import postgres from 'postgres';
import { hasPostgres, startPostgres } from '../../../../test/support/brokers/postgres.ts';
import type { PrivateBroker } from '../../../../test/support/brokers/server-process.ts';
import { openBrokerChannels } from '../../../../test/support/events/broker-channel.ts';
import { describeChannel } from '../../../../test/support/events/channel-contract.ts';
import { guarantees } from '../../../../test/support/events/channel-guarantees.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';

const folder = temporaryFolder({ after });
let server: PrivateBroker;
let sql: postgres.Sql;

before(async () => {
  if (!hasPostgres) return;
  server = await startPostgres(folder);
  sql = postgres(server.url, { max: 1 });
});
after(async () => {
  await sql?.end();
  await server?.kill();
});

describeChannel({
  name: 'postgres',
  skip: hasPostgres ? false : 'PostgreSQL is not installed',
  durable: guarantees.postgres.survivesGateway,
  async open(t) {
    const opened = await openBrokerChannels(t, {
      scheme: 'postgres',
      url: server.url,
      async publishBytes(topic, bytes) {
        await sql`with event as (insert into modelgate_events (topic, event) values (${topic}, ${bytes}) returning seq)
          insert into modelgate_deliveries (consumer, seq)
            select id, seq from event cross join modelgate_consumers where topic = ${topic} and name <> ''`;
      },
    });
    return {
      ...opened,
      async advance(ms) {
        // Its clock is the server's, so everything that waits for a time moves towards it.
        await sql`update modelgate_deliveries set due = due - ${ms} * interval '1 millisecond'`;
      },
    };
  },
});
