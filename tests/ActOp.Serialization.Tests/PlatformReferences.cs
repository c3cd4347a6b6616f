using Microsoft.CodeAnalysis;

namespace ActOp.Serialization.Tests;

/// <summary>What sources that a test compiles may refer to: .NET and the assemblies under test, without the tests themselves.</summary>
internal static class PlatformReferences
{
    internal static readonly MetadataReference[] All =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static path => !Path.GetFileName(path).StartsWith("ActOp.Serialization.Tests", StringComparison.Ordinal))
            .Select(static path => MetadataReference.CreateFromFile(path)),
    ];
}
