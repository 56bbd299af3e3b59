// Tax ids on documents. Who holds a link should recognise a payer, not learn a tax id.

/**
 * `***.456.789-**` of a CPF (11 digits once punctuation is gone), `**.345.678/****-**` of a CNPJ (12 digits or
 * letters and 2 digits); null for anything else: what is not known can't be masked. Check digits don't matter.
 */
export const maskedTaxId = (document: string): string | null => {
  const bare = document.replace(/[^0-9A-Za-z]/g, '').toUpperCase();
  if (/^\d{11}$/.test(bare)) return `***.${bare.slice(3, 6)}.${bare.slice(6, 9)}-**`;
  if (/^[0-9A-Z]{12}\d{2}$/.test(bare)) return `**.${bare.slice(2, 5)}.${bare.slice(5, 8)}/****-**`;
  return null;
};

/** The receiver's number as Pix receipts show it: `12.ABC.345/01DE-35` of a bare CNPJ in full, since it is public; a CPF masked. */
export const shownTaxId = (taxId: string): { readonly kind: 'CPF' | 'CNPJ'; readonly text: string | null } =>
  taxId.length === 11
    ? { kind: 'CPF', text: maskedTaxId(taxId) }
    : { kind: 'CNPJ', text: taxId.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5') };
