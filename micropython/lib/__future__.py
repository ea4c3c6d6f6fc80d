# All of it is as it is already.
annotations = division = generator_stop = print_function = unicode_literals = absolute_import = nested_scopes = with_statement = True
