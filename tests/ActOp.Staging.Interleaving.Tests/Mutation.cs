using System.Reflection;
using System.Runtime.Loader;
using ActOp.Staging.Interleaving.Tests.Exploring;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace ActOp.Staging.Interleaving.Tests;

/// <summary>A fault planted into the sources of the stage, and where it must be found.</summary>
/// <param name="Id">Its name; R and F: a fault that the stage once had.</param>
/// <param name="File">The source.</param>
/// <param name="Right">Text that occurs there once.</param>
/// <param name="Wrong">What takes its place.</param>
/// <param name="Model">The model that sees it.</param>
/// <param name="Strategy">The strategy that finds it (<see cref="Search"/>).</param>
/// <param name="Schedules">It must be found within so many schedules.</param>
public sealed record Mutation(string Id, string File, string Right, string Wrong, string Model, string Strategy, int Schedules)
{
    private static readonly MetadataReference[] References =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static path => Path.GetFileName(path).StartsWith("System.", StringComparison.Ordinal))
            .Select(static path => MetadataReference.CreateFromFile(path)),
        MetadataReference.CreateFromFile(typeof(Interleaver).Assembly.Location),
    ];

    private static readonly Lazy<(string Name, SyntaxTree Tree)[]> Trees = new(static () =>
        [.. Sources()
            .Append(("usings",
                "global using System; global using System.Collections.Generic; global using System.IO; global using System.Linq; global "
                    + "using System.Threading; global using System.Threading.Tasks;"))
            .Select(static source => (source.Item1, Parse(source.Item2)))]);

    /// <summary>The sources of the stage and the doubles.</summary>
    public static IEnumerable<(string Name, string Text)> Sources()
    {
        var assembly = typeof(Mutation).Assembly;
        foreach (var name in assembly.GetManifestResourceNames().Where(static name => name.StartsWith("source/", StringComparison.Ordinal)))
        {
            using var reader = new StreamReader(assembly.GetManifestResourceStream(name)!);
            yield return (name["source/".Length..], reader.ReadToEnd());
        }
    }

    /// <summary>Compiles the sources with the fault.</summary>
    public Func<Model> Compile()
    {
        var text = Sources().Single(source => source.Name == File).Text;
        if (text.Split(Right).Length != 2)
            throw new InvalidOperationException($"The mutation {Id} does not fit {File}: its text must occur there once.");
        var trees = Trees.Value.Select(
            source => source.Name == File ? Parse(text.Replace(Right, Wrong, StringComparison.Ordinal)) : source.Tree);
        var options =
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, optimizationLevel: OptimizationLevel.Release,
                nullableContextOptions: NullableContextOptions.Enable, allowUnsafe: true);
        using var image = new MemoryStream();
        var result = CSharpCompilation.Create("Mutation", trees, References, options).Emit(image);
        if (!result.Success)
        {
            throw new InvalidOperationException($"The mutation {Id} does not compile: "
                + string.Join(Environment.NewLine, result.Diagnostics.Where(static one => one.Severity == DiagnosticSeverity.Error)));
        }

        image.Position = 0;
        var models = new AssemblyLoadContext(Id, isCollectible: true).LoadFromStream(image).GetType("ActOp.Staging.StageModels")!;
        var create = models.GetMethod("Create", BindingFlags.Public | BindingFlags.Static)!.CreateDelegate<Func<string, Model>>();
        return () => create(Model);
    }

    public override string ToString() => Id;

    private static SyntaxTree Parse(string text) => CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Preview));
}
