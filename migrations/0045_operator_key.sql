-- The command create-operator-key replaces a lost key.

grant update on operator_key to bellwether_operator;
comment on table operator_key is
  'The key of the operator of the installation. One row, created at the first start; create-operator-key replaces it.';
