-- Clients are also found by their name without apostrophes (obrien for O'Brien) and by the two-letter
-- spelling of umlauts (mueller for Müller). New and changed clients get these words from
-- searchableWordsOf in src/store/objects.ts; this adds them for the clients that are there.
create function migrated_words_of(text) returns setof text language sql immutable as $$
  select distinct word
  from regexp_split_to_table(
    replace(translate(lower(regexp_replace(normalize($1, NFKD), '[\u0300-\u036f]', '', 'g')),
                      'łŁøØđĐ', 'lloodd'), 'ß', 'ss'), '[^[:alnum:]]+') word
  where word <> ''
$$;

insert into client_word (business_id, word, client_id)
select c.business_id, word, c.client_id
from (select business_id, client_id,
             translate(normalize(concat_ws(' ', first_name, last_name, email_address), NFC),
                       '''’‘ʼʻ`´＇', '') as joined,
             concat_ws(' ', first_name, last_name, email_address) as written
      from client) c
cross join lateral (
  select migrated_words_of(c.joined) as word
  union
  select migrated_words_of(
    replace(replace(replace(replace(replace(replace(replace(lower(translate(c.joined, 'ÄÖÜØÅÆŒ', 'äöüøåæœ')),
      'ä', 'ae'), 'ö', 'oe'), 'ü', 'ue'), 'ø', 'oe'), 'å', 'aa'), 'æ', 'ae'), 'œ', 'oe'))) words
where c.written ~ '[''’‘ʼʻ`´＇äöüøåæœÄÖÜØÅÆŒ]'
   or c.written is distinct from normalize(c.written, NFC)
on conflict do nothing;

drop function migrated_words_of(text);
