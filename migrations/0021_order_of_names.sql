-- Names in the order in which people look for them: Öztürk between O and P, not after Z. A server
-- that was built without ICU keeps the order of code points.
do $$
begin
  create collation name_order (provider = icu, locale = 'und');
exception when feature_not_supported or invalid_parameter_value then
  create collation name_order (provider = libc, locale = 'C');
end $$;
