// Webhooks of charge.paid carry the latest checkpoint of the audit log if the deployment enables it.
import { expect } from 'chai';
import { type NoteKey, noteKeysOf, readNote, signersOf } from '../../../../application/audit/signedNote.ts';
import { sealAllOf } from '../../../infrastructure/audit/auditWorld.ts';
import { TestGateway } from '../../../world/gateway.ts';
import { type Hit, Receiver } from '../../../world/receiver.ts';

const SETTINGS = { isPublic: false, witnesses: [], anchors: [] };

describe('the header X-Quita-Checkpoint', () => {
  /** Pays a charge and returns the webhooks of both events. */
  const webhooksOf = async (
    inWebhooks: boolean,
  ): Promise<{ created: Hit; paid: Hit; note: string | undefined; keys: readonly NoteKey[] }> => {
    const receiver = await Receiver.open();
    const gateway = await TestGateway.open({ audit: { ...SETTINGS, inWebhooks } });
    const hook = { url: receiver.url, events: ['charge.created', 'charge.paid'] };
    expect((await gateway.post('/v1/webhooks/endpoints', hook)).status).to.equal(201);
    await sealAllOf(gateway);
    const { auditTree, auditKeys, auditOrigin } = gateway.gateway.needs;
    const note = (await auditTree.latest())?.note;
    const keys = noteKeysOf(await auditKeys.list(), auditOrigin);
    const { body } = await gateway.charge<{ id: string }>();
    await gateway.post(`/v1/sandbox/charges/${body.id}/pay`);
    const of = (type: string) => receiver.until(({ headers }) => headers['x-acme-event-type'] === type);
    const hits = { created: await of('charge.created'), paid: await of('charge.paid'), note, keys };
    await gateway.close();
    await receiver.close();
    return hits;
  };

  it('is sent with charge.paid only, with a signed checkpoint at least as recent as the last seal', async () => {
    const { created, paid, note, keys } = await webhooksOf(true);
    expect(created.headers).not.to.have.property('x-quita-checkpoint');
    const sent = Buffer.from(String(paid.headers['x-quita-checkpoint']), 'base64').toString();
    expect(keys).to.have.length(1);
    expect(signersOf(readNote(sent)!, keys)).to.deep.equal(keys);
    const [origin, size] = sent.split('\n');
    expect(note?.split('\n')[0]).to.equal(origin);
    expect(Number(size)).to.be.greaterThanOrEqual(Number(note?.split('\n')[1]));
  });

  it('is absent by default', async () => {
    expect((await webhooksOf(false)).paid.headers).not.to.have.property('x-quita-checkpoint');
  });
});
