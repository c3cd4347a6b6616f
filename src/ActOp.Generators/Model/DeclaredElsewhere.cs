namespace ActOp.Generators.Model;

/// <summary>What was found in assemblies named by [GenerateCodeForDeclaringAssembly].</summary>
internal sealed record DeclaredElsewhere(EquatableArray<InterfaceModel> Interfaces, EquatableArray<ClassModel> Classes, EquatableArray<CodecModel> Codecs);
