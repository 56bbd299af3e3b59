// Examples for the routes of evidence.
import { expect } from 'chai';
import { FILE, put, type Upload } from '../../world/evidenceDesk.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { type Example, type Files, NO_ID } from './exampleParts.ts';

const ofEvidence = (path: string, name: string): { readonly [operationId: string]: Example } => ({
  [`list${name}Evidence`]: {
    path: ({ evidenceCaseId }) => `${path}/${evidenceCaseId}/evidence`,
    absent: `${path}/med_${NO_ID}/evidence`,
    live: 404,
  },
  [`grant${name}Evidence`]: {
    path: ({ evidenceCaseId }) => `${path}/${evidenceCaseId}/evidence`,
    body: { file_name: 'nota.png', file_size: 1, mime_type: 'image/png' },
    absent: `${path}/med_${NO_ID}/evidence`,
    live: 404,
  },
  [`complete${name}Evidence`]: {
    path: ({ evidenceCaseId, evidenceId }) => `${path}/${evidenceCaseId}/evidence/${evidenceId}/complete`,
    absent: `${path}/med_${NO_ID}/evidence/mev_${NO_ID}/complete`,
    live: 404,
  },
});

export const EVIDENCE_EXAMPLES: { readonly [operationId: string]: Example } = {
  ...ofEvidence('/v1/med/cases', 'MedCase'),
  ...ofEvidence('/v1/infractions', 'Infraction'),
  receiveEvidence: {
    path: ({ evidenceLink }) => evidenceLink,
    upload: { contentType: 'image/png', bytes: FILE },
    live: 403,
  },
  showEvidence: { path: ({ evidenceLink }) => evidenceLink, live: 200 },
};

export const makeEvidence = async (gateway: TestGateway): Promise<Files> => {
  const { id } = (await gateway.charge<{ id: string }>()).body;
  expect((await gateway.post(`/v1/sandbox/charges/${id}/pay`, {})).status).to.equal(200);
  const { body: medCase } = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${id}/med`, {});
  const path = `/v1/med/cases/${medCase.id}/evidence`;
  const file = { file_name: 'nota.png', file_size: FILE.length, mime_type: 'image/png' };
  const { body: upload } = await gateway.post<Upload>(path, file);
  expect(await put(upload, FILE)).to.equal(200);
  const done = await gateway.post<{ view_url: string }>(`${path}/${upload.id}/complete`);
  expect(done.status, done.text).to.equal(200);
  const evidenceLink = done.body.view_url.slice(gateway.baseUrl.length);
  return { evidenceCaseId: medCase.id, evidenceId: upload.id, evidenceLink };
};
