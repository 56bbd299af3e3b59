// A merchant with a disputed charge who uploads evidence.
import { expect } from 'chai';
import { pngImage } from '../support/images.ts';
import type { Reply, TestGateway, TestTenant } from './gateway.ts';
import { Merchant } from './merchant.ts';

export interface Upload {
  readonly id: string;
  readonly object: string;
  readonly upload_url: string;
  readonly upload_method: string;
  readonly upload_headers: Readonly<Record<string, string>>;
  readonly expires_in: number;
}
export interface Evidence {
  readonly id: string;
  readonly object: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly mime_type: string;
  readonly uploaded_by: string;
  readonly created_at: string;
  readonly uploaded_at: string;
  readonly view_url: string;
}

export const FILE = pngImage();

export class EvidenceDesk {
  readonly merchant: Merchant & { readonly tenant: TestTenant };
  readonly caseId: string;
  readonly #gateway: TestGateway;

  private constructor(gateway: TestGateway, merchant: EvidenceDesk['merchant'], caseId: string) {
    this.#gateway = gateway;
    this.merchant = merchant;
    this.caseId = caseId;
  }

  static async open(gateway: TestGateway): Promise<EvidenceDesk> {
    return EvidenceDesk.#openFor(gateway, await Merchant.open(gateway));
  }
  /** Returns the desk of a case that is open. */
  static ofCase(gateway: TestGateway, merchant: EvidenceDesk['merchant'], caseId: string): EvidenceDesk {
    return new EvidenceDesk(gateway, merchant, caseId);
  }
  /** Opens another case of the same merchant. */
  another(): Promise<EvidenceDesk> {
    return EvidenceDesk.#openFor(this.#gateway, this.merchant);
  }
  static async #openFor(gateway: TestGateway, merchant: EvidenceDesk['merchant']): Promise<EvidenceDesk> {
    const { id } = await merchant.charge();
    await merchant.pay(id);
    const { status, body, text } = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${id}/med`, {}, merchant);
    expect(status, text).to.equal(201);
    return new EvidenceDesk(gateway, merchant, body.id);
  }

  ask(file: Record<string, unknown> = {}): Promise<Reply<Upload>> {
    const { mime_type = 'image/png' } = file;
    const file_name = `entrega.${String(mime_type).split('/')[1]}`;
    const body = { file_name, file_size: FILE.length, mime_type, ...file };
    return this.#gateway.post<Upload>(`/v1/med/cases/${this.caseId}/evidence`, body, this.merchant);
  }
  async grant(file: Record<string, unknown> = {}): Promise<Upload> {
    const { status, body, text } = await this.ask(file);
    expect(status, text).to.equal(201);
    return body;
  }
  complete({ id }: Pick<Upload, 'id'>, key = this.merchant.key): Promise<Reply<Evidence>> {
    return this.#gateway.post<Evidence>(`/v1/med/cases/${this.caseId}/evidence/${id}/complete`, undefined, { key });
  }
  /** Requests a grant, uploads the file and completes it. */
  async add(file: Record<string, unknown> = {}, bytes: Buffer = FILE): Promise<Evidence> {
    const upload = await this.grant({ file_size: bytes.length, ...file });
    expect(await put(upload, bytes)).to.equal(200);
    const { status, body, text } = await this.complete(upload);
    expect(status, text).to.equal(200);
    return body;
  }
  async list(): Promise<readonly Evidence[]> {
    const reply = await this.#gateway.get<{ object: string; data: readonly Evidence[] }>(
      `/v1/med/cases/${this.caseId}/evidence`,
      this.merchant,
    );
    expect([reply.status, Object.keys(reply.body), reply.body.object], reply.text).to.deep.equal([
      200,
      ['object', 'data'],
      'list',
    ]);
    return reply.body.data;
  }
  async count(): Promise<unknown> {
    const reply = await this.#gateway.get<{ evidence_count: number }>(`/v1/med/cases/${this.caseId}`, this.merchant);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body.evidence_count;
  }
  async answer(what: 'accept' | 'appeal', body?: unknown): Promise<void> {
    const { status, text } = await this.#gateway.post(`/v1/med/cases/${this.caseId}/${what}`, body, this.merchant);
    expect(status, text).to.equal(200);
  }
}

/** Uploads the bytes and returns the HTTP status. */
export const put = async (
  { upload_url: url, upload_headers: headers }: Upload,
  bytes: Buffer,
  contentType = headers['Content-Type'] as string,
): Promise<number> =>
  (await fetch(url, { method: 'PUT', headers: { 'content-type': contentType }, body: new Uint8Array(bytes) })).status;

/** Resolves once an upload to the grant has begun. */
export const untilUploading = async ({ storage }: TestGateway, { id }: Pick<Upload, 'id'>): Promise<void> => {
  const text = 'SELECT FROM operations.evidence_grants WHERE evidence_id = $1 AND upload IS NOT NULL';
  while ((await storage.operations.query(text, [id.slice('mev_'.length)])).rowCount === 0)
    await new Promise(setImmediate);
};
