// The references of the extensions that Abstractions declares, whose assembly is compiled without the generator.
[assembly: Orleans.GenerateCodeForDeclaringAssembly(typeof(Orleans.Runtime.IAsyncEnumerableGrainExtension))]
