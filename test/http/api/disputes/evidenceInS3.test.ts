// Evidence in S3-compatible storage: the merchant uploads there and views it through links of this service (rule Q6).
import { expect } from 'chai';
import { removeUnconfirmed } from '../../../../application/disputes/evidenceSweep.ts';
import { jpegImage } from '../../../support/images.ts';
import { EvidenceDesk, FILE, put } from '../../../world/evidenceDesk.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { BUCKET, openSignedS3, S3_CREDENTIALS, type SignedS3 } from '../../../world/signedS3.ts';

describe('evidence in S3', () => {
  let s3: SignedS3;
  let gateway: TestGateway;
  let desk: EvidenceDesk;
  before(async () => {
    Object.assign(process.env, S3_CREDENTIALS);
    s3 = await openSignedS3();
    const at = { bucket: BUCKET, prefix: '', region: 'us-east-1', endpoint: s3.endpoint };
    gateway = await openReady({ evidence: { s3: at } });
    desk = await EvidenceDesk.open(gateway);
  });
  after(async () => {
    await gateway.close();
    await s3.close();
    for (const name of Object.keys(S3_CREDENTIALS)) delete process.env[name];
  });

  it('is uploaded to the storage, confirmed, and downloadable', async () => {
    const upload = await desk.grant();
    expect(upload.upload_url.startsWith(`${s3.endpoint}/${BUCKET}/uploads/`)).to.equal(true);
    expect(upload.upload_url).to.not.include(desk.merchant.tenant.accountId);
    expectError(await desk.complete(upload), 409, 'EVIDENCE_NOT_UPLOADED');
    expect(await put(upload, FILE, 'image/jpeg')).to.equal(403);
    expect(await put(upload, FILE.subarray(1))).to.equal(403);
    expect(await put(upload, FILE)).to.equal(200);
    const { status, body } = await desk.complete(upload);
    expect(status).to.equal(200);
    const reply = await fetch(body.view_url);
    expect([reply.status, Buffer.from(await reply.arrayBuffer())]).to.deep.equal([200, FILE]);
    expect(reply.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect(await desk.count()).to.equal(1);
  });
  it('keeps its confirmed content, whatever is uploaded to the URL afterwards', async () => {
    const upload = await desk.grant();
    expect(await put(upload, FILE)).to.equal(200);
    const { body } = await desk.complete(upload);
    const other = Buffer.from(FILE).reverse();
    await put(upload, other);
    expect(Buffer.from(await (await fetch(body.view_url)).arrayBuffer())).to.deep.equal(FILE);
  });
  it('is rejected for good if its type differs from the declared one, and removed after the grant ends', async () => {
    const wrong = jpegImage();
    const upload = await desk.grant({ file_size: wrong.length });
    expect(await put(upload, wrong)).to.equal(200);
    expectError(await desk.complete(upload), 400, 'invalid_evidence');
    await put(upload, wrong);
    expectError(await desk.complete(upload), 400, 'invalid_evidence');
    const { accountId } = desk.merchant.tenant;
    const evidenceId = upload.id.slice(4);
    const { evidence } = gateway.gateway.needs;
    const ref = { accountId, mode: 'test', evidenceId } as Parameters<typeof evidence.read>[0];
    expect(await evidence.read(ref)).to.deep.equal(wrong);
    await gateway.storage.operations.query(
      "UPDATE operations.evidence_grants SET ends_at = now() - interval '1 minute'",
    );
    await removeUnconfirmed(gateway.gateway.needs);
    expect(await evidence.read(ref)).to.equal(null);
    expect(gateway.faults).to.deep.equal([]);
  });
  it('is never accepted at an upload URL of this service', async () => {
    const path = `/evidence/mev_${'0'.repeat(26)}?token=none`;
    const headers = { 'content-type': 'image/png' };
    expectError(await gateway.call('PUT', path, { raw: FILE, headers, key: null }), 403, 'invalid_signature');
  });
  it('gets 503 while the storage is unavailable, and confirms nothing', async () => {
    const [asked, counted] = [await desk.grant(), await desk.count()];
    await put(asked, FILE);
    await s3.close();
    expectError(await desk.ask(), 503, 'service_unavailable');
    expectError(await desk.complete(asked), 503, 'service_unavailable');
    expect(await desk.count()).to.equal(counted);
    expect(gateway.faults.splice(0).length).to.equal(2);
  });
});
