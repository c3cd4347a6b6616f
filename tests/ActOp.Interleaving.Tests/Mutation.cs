using System.Reflection;
using System.Runtime.Loader;
using ActOp.Interleaving.Tests.Exploring;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace ActOp.Interleaving.Tests;

/// <summary>A fault planted into one of the sources, and where it must be found.</summary>
/// <param name="Id">Its name; R and F: a fault that the source once had.</param>
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

    private const string Usings =
        "global using System; global using System.Collections.Generic; global using System.IO; global using System.Linq; global using "
            + "System.Threading; global using System.Threading.Tasks;";

    private static readonly Group Stage = new("stage", "ActOp.Staging.StageModels");
    private static readonly Group Node = new("node", "ActOp.Models.NodeModels");

    /// <summary>The sources of a group of models, their doubles, and the models.</summary>
    /// <param name="group">Stage, node, or both for what they share.</param>
    public static IEnumerable<(string Name, string Text)> Sources(string group)
    {
        var assembly = typeof(Mutation).Assembly;
        var prefix = group + "/";
        foreach (var name in assembly.GetManifestResourceNames().Where(name => name.StartsWith(prefix, StringComparison.Ordinal)))
        {
            using var reader = new StreamReader(assembly.GetManifestResourceStream(name)!);
            yield return (name[prefix.Length..], reader.ReadToEnd());
        }
    }

    /// <summary>Compiles the sources with the fault.</summary>
    public Func<Model> Compile()
    {
        var group = Sources(Stage.Name).Any(source => source.Name == File) ? Stage : Node;
        var text = Sources(group.Name).Single(source => source.Name == File).Text;
        if (text.Split(Right).Length != 2)
            throw new InvalidOperationException($"The mutation {Id} does not fit {File}: its text must occur there once.");
        using var image = new MemoryStream();
        var (tree, compilation) = group.Right.Value;
        var result = compilation.ReplaceSyntaxTree(tree[File], Parse(text.Replace(Right, Wrong, StringComparison.Ordinal))).Emit(image);
        if (!result.Success)
        {
            throw new InvalidOperationException($"The mutation {Id} does not compile: "
                + string.Join(Environment.NewLine, result.Diagnostics.Where(static one => one.Severity == DiagnosticSeverity.Error)));
        }

        image.Position = 0;
        var models = new AssemblyLoadContext(Id, isCollectible: true).LoadFromStream(image).GetType(group.Models)!;
        var create = models.GetMethod("Create", BindingFlags.Public | BindingFlags.Static)!.CreateDelegate<Func<string, Model>>();
        return () => create(Model);
    }

    public override string ToString() => Id;

    private static SyntaxTree Parse(string text) => CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Preview));

    /// <summary>What is compiled together.</summary>
    /// <param name="Name">The name of the group.</param>
    /// <param name="Models">The type that makes its models.</param>
    private sealed record Group(string Name, string Models)
    {
        /// <summary>The sources as they are. What is known of the references is used again by all faults.</summary>
        internal Lazy<(Dictionary<string, SyntaxTree> Trees, CSharpCompilation Compilation)> Right { get; } = new(() =>
        {
            var trees = Sources(Name).Concat(Sources("both")).Append(("usings", Usings))
                .ToDictionary(static source => source.Item1, static source => Parse(source.Item2));
            var options =
                new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, optimizationLevel: OptimizationLevel.Release,
                    nullableContextOptions: NullableContextOptions.Enable, allowUnsafe: true);
            return (trees, CSharpCompilation.Create("Mutation", trees.Values, References, options));
        });
    }
}
