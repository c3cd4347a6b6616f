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
    /// <summary>Names of the steps, for tests.</summary>
    internal const string InterfaceStep = "Interfaces";
    internal const string ClassStep = "Classes";
    internal const string CodecStep = "Codecs";
    internal const string StatelessStep = "Stateless";

    /// <inheritdoc/>
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        var declared = context.SyntaxProvider.CreateSyntaxProvider(
            static (node, _) => node is InterfaceDeclarationSyntax,
            static (c, cancel) => c.SemanticModel.GetDeclaredSymbol(c.Node, cancel) is INamedTypeSymbol type && IsFirst(type, c.Node)
                ? new InterfaceReader(c.SemanticModel.Compilation).Read(type) : null)
            .Where(static model => model is not null).Select(static (model, _) => model!).WithTrackingName(InterfaceStep);
        var classes = context.SyntaxProvider.CreateSyntaxProvider(
            static (node, _) => node is ClassDeclarationSyntax or RecordDeclarationSyntax or EnumDeclarationSyntax,
            static (c, cancel) => c.SemanticModel.GetDeclaredSymbol(c.Node,
                cancel) is INamedTypeSymbol { TypeKind: TypeKind.Class or TypeKind.Enum } type && IsFirst(type, c.Node)
                    ? GrainClassReader.Read(type) : null)
            .Where(static model => model is { IsEmpty: false }).Select(static (model, _) => model!).WithTrackingName(ClassStep);
        var codecs = context.SyntaxProvider.ForAttributeWithMetadataName(
            Attributes.GenerateSerializer, static (_, _) => true, static (c, _) => CodecReader.Read((INamedTypeSymbol)c.TargetSymbol))
            .Where(static model => model is not null).Select(static (model, _) => model!).WithTrackingName(CodecStep);
        var converters = context.SyntaxProvider.ForAttributeWithMetadataName(
            Attributes.RegisterConverter, static (_, _) =>
                true, static (c, _) => new EquatableArray<ConverterModel>([.. ConverterReader.Read((INamedTypeSymbol)c.TargetSymbol)]))
            .SelectMany(static (found, _) => found);
        var activators = context.SyntaxProvider.ForAttributeWithMetadataName(
            Attributes.RegisterActivator, static (_, _) => true,
            static (c, _) => new EquatableArray<string>([.. ActivatorReader.Registrations((INamedTypeSymbol)c.TargetSymbol)]))
            .SelectMany(static (found, _) => found);
        var ownCodecs = ApplicationCodecs(context, Attributes.RegisterSerializer).Collect()
            .Combine(ApplicationCodecs(context, Attributes.RegisterCopier).Collect())
            .Select(static (both, _) => new EquatableArray<string>([.. both.Left.Concat(both.Right).Distinct()]));
        var stateless = context.SyntaxProvider.CreateSyntaxProvider(
            static (node, _) => node is ClassDeclarationSyntax,
            static (c, cancel) => c.SemanticModel.GetDeclaredSymbol(c.Node, cancel) is INamedTypeSymbol type && IsFirst(type, c.Node)
                ? StatelessSource.Registration(type, c.SemanticModel.Compilation, cancel) : null)
            .Where(static line => line is not null).Select(static (line, _) => line!).WithTrackingName(StatelessStep);
        var declaring = context.CompilationProvider.Select(static (compilation, cancel) => DeclaringAssemblies.Read(compilation, cancel));
        var assembly = context.CompilationProvider.Select(static (compilation, _) => compilation.AssemblyName ?? "");

        var parts = context.CompilationProvider.Select(
            static (compilation, cancel) => new EquatableArray<string>([.. ApplicationParts.Read(compilation, cancel)]));

        context.RegisterSourceOutput(parts, static (output, names) => WriteParts(output, names));
        context.RegisterSourceOutput(declared, static (output, model) => WriteReference(output, model));
        context.RegisterSourceOutput(
            declaring.SelectMany(static (found, _) => found.Interfaces), static (output, model) => WriteReference(output, model));
        context.RegisterSourceOutput(codecs, static (output, model) => WriteCodec(output, model));
        context.RegisterSourceOutput(
            declaring.SelectMany(static (found, _) => found.Codecs), static (output, model) => WriteCodec(output, model));
        var all = declared.Collect().Combine(declaring).Select(
            static (pair, _) => new EquatableArray<InterfaceModel>([.. pair.Left, .. pair.Right.Interfaces]));
        context.RegisterSourceOutput(all, static (output, models) => WriteForeignCalls(output, models));
        var registrations = codecs.Collect().Combine(converters.Collect()).Combine(declaring).Combine(stateless.Collect())
            .Combine(activators.Collect()).Combine(ownCodecs).Select(static (input, _) =>
        {
            var (((((own, conversions), found), lines), makers), application) = input;
            return new EquatableArray<string>(
                [.. Registrations(own.AddRange(found.Codecs), conversions), .. lines, .. makers, .. application]);
        });
        context.RegisterSourceOutput(all.Combine(classes.Collect()).Combine(declaring).Combine(assembly).Combine(registrations),
            static (output, input) =>
        {
            var ((((interfaces, types), found), name), lines) = input;
            WriteManifest(output, name, interfaces, types.AddRange(found.Classes), lines);
        });
    }

    private static IncrementalValuesProvider<string> ApplicationCodecs(
        IncrementalGeneratorInitializationContext context, string attribute) =>
        context.SyntaxProvider.ForAttributeWithMetadataName(
            attribute, static (_, _) => true, static (c, _) => ApplicationCodecReader.Registration((INamedTypeSymbol)c.TargetSymbol))
            .Where(static line => line is not null).Select(static (line, _) => line!);

    private static void WriteParts(SourceProductionContext output, EquatableArray<string> names)
    {
        if (names.Length > 0)
            output.AddSource("ApplicationParts.g.cs", ManifestSource.WriteParts(names));
    }

    private static void WriteReference(SourceProductionContext output, InterfaceModel model) =>
        output.AddSource(model.HintName + ".Reference.g.cs", ReferenceSource.Write(model));

    private static void WriteCodec(SourceProductionContext output, CodecModel model)
    {
        if (!model.IsEnum)
            output.AddSource(model.ClassName + ".g.cs", CodecSource.Write(model));
    }

    private static EquatableArray<string> Registrations(ImmutableArray<CodecModel> codecs, ImmutableArray<ConverterModel> converters) =>
        new(
    [
        .. codecs.Select(CodecSource.Registration),
        .. converters.Select(static c => "AddConverter<" + c.Value + ", " + c.Surrogate + ">(" + Writing.SourceText.Quote(c.WireName)
            + ", static () => new " + c.Converter + "());"),
    ]);

    private static bool IsFirst(INamedTypeSymbol type, SyntaxNode node) =>
        type.DeclaringSyntaxReferences is { Length: > 0 } references && references[0].SyntaxTree == node.SyntaxTree
            && references[0].Span == node.Span;

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

    private static void WriteManifest(
        SourceProductionContext output, string assembly, EquatableArray<InterfaceModel> interfaces, ImmutableArray<ClassModel> types,
        EquatableArray<string> codecs)
    {
        var grains = types.Where(static t => t.Grain is not null).Select(static t => t.Grain!);
        var exceptions = types.Where(static t => t.Named is not null).Select(static t => t.Named!);
        if (interfaces.Length + types.Length + codecs.Length > 0)
            output.AddSource("Manifest.g.cs", ManifestSource.Write(assembly, interfaces, grains, exceptions, codecs));
    }
}
