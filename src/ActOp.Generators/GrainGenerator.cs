using System.Collections.Immutable;
using ActOp.Generators.Model;
using ActOp.Generators.Reading;
using ActOp.Generators.Writing;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.Generators;

/// <summary>Generates call classes and references for grain interfaces and the assembly's manifest.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class GrainGenerator : IIncrementalGenerator
{
    /// <summary>Names of the steps that tests look at.</summary>
    internal const string InterfaceStep = "Interfaces";
    internal const string ClassStep = "Classes";

    /// <inheritdoc/>
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        var declared = context.SyntaxProvider.CreateSyntaxProvider(
            static (node, _) => node is InterfaceDeclarationSyntax,
            static (c, cancel) => c.SemanticModel.GetDeclaredSymbol(c.Node, cancel) is INamedTypeSymbol type && IsFirst(type, c.Node) ? new InterfaceReader(c.SemanticModel.Compilation).Read(type) : null)
            .Where(static model => model is not null).Select(static (model, _) => model!).WithTrackingName(InterfaceStep);
        var classes = context.SyntaxProvider.CreateSyntaxProvider(
            static (node, _) => node is ClassDeclarationSyntax or RecordDeclarationSyntax,
            static (c, cancel) => c.SemanticModel.GetDeclaredSymbol(c.Node, cancel) is INamedTypeSymbol { TypeKind: TypeKind.Class } type && IsFirst(type, c.Node) ? new ClassModel(GrainClassReader.Grain(type), GrainClassReader.Exception(type)) : null)
            .Where(static model => model is { IsEmpty: false }).Select(static (model, _) => model!).WithTrackingName(ClassStep);
        var declaring = context.CompilationProvider.Select(static (compilation, cancel) => DeclaringAssemblies.Read(compilation, cancel));
        var assembly = context.CompilationProvider.Select(static (compilation, _) => compilation.AssemblyName ?? "");

        context.RegisterSourceOutput(declared, static (output, model) => output.AddSource(model.HintName + ".Reference.g.cs", ReferenceSource.Write(model)));
        context.RegisterSourceOutput(declaring.SelectMany(static (found, _) => found.Interfaces), static (output, model) => output.AddSource(model.HintName + ".Reference.g.cs", ReferenceSource.Write(model)));
        var all = declared.Collect().Combine(declaring).Select(static (pair, _) => new EquatableArray<InterfaceModel>([.. pair.Left, .. pair.Right.Interfaces]));
        context.RegisterSourceOutput(all, static (output, models) => WriteForeignCalls(output, models));
        context.RegisterSourceOutput(all.Combine(classes.Collect()).Combine(declaring).Combine(assembly), static (output, input) =>
        {
            var (((interfaces, types), found), name) = input;
            WriteManifest(output, name, interfaces, types.AddRange(found.Classes));
        });
    }

    private static bool IsFirst(INamedTypeSymbol type, SyntaxNode node) =>
        type.DeclaringSyntaxReferences is { Length: > 0 } references && references[0].SyntaxTree == node.SyntaxTree && references[0].Span == node.Span;

    private static void WriteForeignCalls(SourceProductionContext output, EquatableArray<InterfaceModel> models)
    {
        var own = new HashSet<string>(models.SelectMany(static m => m.Calls).Select(static c => c.ClassName));
        var calls = models.SelectMany(static m => m.ForeignCalls).Where(call => own.Add(call.ClassName)).ToList();
        if (calls.Count == 0)
            return;
        var text = new Writing.SourceText();
        text.Open("namespace ActOpGenerated");
        foreach (var call in calls)
            CallSource.Write(text, call);
        text.Close();
        output.AddSource("InheritedCalls.g.cs", text.ToString());
    }

    private static void WriteManifest(SourceProductionContext output, string assembly, EquatableArray<InterfaceModel> interfaces, ImmutableArray<ClassModel> types)
    {
        var grains = types.Where(static t => t.Grain is not null).Select(static t => t.Grain!);
        var exceptions = types.Where(static t => t.Exception is not null).Select(static t => t.Exception!);
        if (interfaces.Length + types.Length > 0)
            output.AddSource("Manifest.g.cs", ManifestSource.Write(assembly, interfaces, grains, exceptions, []));
    }
}
