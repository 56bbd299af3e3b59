// Sentences about accounts, their API keys and users.
import type { EventWords } from './words.ts';

const MODES = {
  test: { en: 'test mode', pt: 'o modo de teste' },
  live: { en: 'live mode', pt: 'o modo de produção' },
} as const;

export const ACCOUNT_SENTENCES = {
  AccountOpened: () => ({ en: 'The account was opened.', pt: 'A conta foi aberta.' }),
  AccountSettingsChanged: () => ({
    en: 'The account’s settings were changed.',
    pt: 'As configurações da conta foram alteradas.',
  }),
  AccountSandboxSettingsChanged: () => ({
    en: 'The sandbox’s settings were changed.',
    pt: 'As configurações do sandbox foram alteradas.',
  }),
  AccountOverrideSecretRotated: ({ mode, version }) => ({
    en: `The secret for payments’ own webhook URLs was rotated to version ${version} in ${MODES[mode].en}.`,
    pt: `O secret das URLs de webhook próprias dos pagamentos foi trocado pela versão ${version} para ${MODES[mode].pt}.`,
  }),
  AccountSuspended: () => ({ en: 'The account was suspended.', pt: 'A conta foi suspensa.' }),
  AccountReopened: () => ({ en: 'The account was reopened.', pt: 'A conta foi reaberta.' }),
  AccountTestClockAdvanced: ({ from, to }) => ({
    en: `The test clock moved from ${from} to ${to}.`,
    pt: `O relógio de teste passou de ${from} para ${to}.`,
  }),
  ApiKeyIssued: ({ keyId, mode }) => ({
    en: `API key ${keyId} was issued for ${MODES[mode].en}.`,
    pt: `A chave de API ${keyId} foi emitida para ${MODES[mode].pt}.`,
  }),
  ApiKeyRotated: ({ replaced, key }) => ({
    en: `API key ${replaced} was replaced by ${key.keyId}.`,
    pt: `A chave de API ${replaced} foi trocada por ${key.keyId}.`,
  }),
  ApiKeyRevoked: ({ keyId }) => ({
    en: `API key ${keyId} was revoked.`,
    pt: `A chave de API ${keyId} foi revogada.`,
  }),
  UserAdded: ({ role }) => ({
    en: `A user was added with the role ${role}.`,
    pt: `Um usuário foi adicionado com o papel ${role}.`,
  }),
  UserPasswordChanged: () => ({ en: 'The user’s password was changed.', pt: 'A senha do usuário foi alterada.' }),
  UserDisabled: () => ({ en: 'The user was disabled.', pt: 'O usuário foi desativado.' }),
  UserEnabled: () => ({ en: 'The user was enabled.', pt: 'O usuário foi ativado.' }),
  UserRoleChanged: ({ role }) => ({
    en: `The user’s role became ${role}.`,
    pt: `O papel do usuário passou a ser ${role}.`,
  }),
  UserSecondFactorEnrolled: () => ({
    en: 'The user enrolled a second factor.',
    pt: 'O usuário cadastrou um segundo fator de autenticação.',
  }),
  UserSecondFactorReset: () => ({
    en: 'The user’s second factor was removed.',
    pt: 'O segundo fator de autenticação do usuário foi removido.',
  }),
} satisfies Partial<EventWords>;
