"""MJCF's grammar: which elements and attributes may be where, by MuJoCo 4.0's reference.

One line per element, indented as the elements are nested; `@name` stands for a group of attributes, lines that begin
with + continue the one above, and several tags before the colon share their attributes.
"""

from __future__ import annotations

from kinetree.io.document import Shape

__all__ = ["SHAPES"]

_GROUPS = {
    "pose": "pos quat axisangle xyaxes zaxis euler",
    "sensor": "name nsample interp delay interval cutoff noise user",
    "actuator": "class group nsample interp delay ctrlrange user forcelimited forcerange",
    "mechanics": "gear damping armature cranklength",
    "transmission": "gear damping armature cranklength joint jointinparent tendon slidersite cranksite site refsite",
    "objects": "objtype objname reftype refname",
    "flex_contact": "contype conaffinity condim priority friction solmix solref solimp margin gap selfcollide "
    "activelayers passive",
}

_OUTLINE = """
option: timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance gravity wind
    + magnetic density viscosity o_margin o_solref o_solimp o_friction integrator cone jacobian solver iterations
    + ls_iterations noslip_iterations ccd_iterations sdf_iterations sdf_initpoints actuatorgroupdisable
  flag: constraint equality frictionloss limit contact spring damper gravity clampctrl warmstart filterparent
      + actuation refsafe sensor midphase eulerdamp autoreset nativeccd island multiccd override energy fwdinv
      + invdiscrete sleep diagexact ipc speculative
compiler: autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle fitaabb
    + eulerseq meshdir texturedir discardvisual usethread fusestatic inertiafromgeom inertiagrouprange
    + saveinertial savecompiled savecanonical assetdir alignfree conflict passthrough
  lengthrange: mode useexisting uselimit accel maxforce timeconst timestep inttotal interval tolrange
size: memory njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom nuser_site nuser_cam nuser_tendon
    + nuser_actuator nuser_sensor
statistic: meaninertia meanmass meansize extent center
asset:
  mesh: name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal maxhullvert
      + inertia builtin params material
    plugin: plugin instance
      config: key value
  hfield: name content_type file nrow ncol size elevation
  skin: name file material rgba inflate vertex texcoord face group
    bone: body bindpos bindquat vertid vertweight
  texture: name class type colorspace content_type file gridsize gridlayout fileright fileleft fileup filedown
      + filefront fileback builtin rgb1 rgb2 mark markrgb random width height hflip vflip nchannel embed
  material: name class texture texrepeat texuniform emission specular shininess reflectance metallic roughness
      + rgba
    layer: texture role
  model: name file content_type
body: name @pose childclass mocap gravcomp sleep simple fuse user
  inertial: @pose mass diaginertia fullinertia
  joint: name class type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit
      + solreffriction solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref springref
      + springyield armature damping frictionloss user
  freejoint: name group align
  geom: name @pose class type contype conaffinity condim group priority size material friction mass density
      + shellinertia solmix solref solimp margin gap surfacevel adhesion fromto hfield mesh fitscale rgba
      + castshadow fluidshape fluidcoef user
    plugin: plugin instance
      config: key value
  attach: model body frame prefix
  site: name @pose class type group material mesh size fromto rgba user
  camera: name @pose class projection fovy ipd resolution output mode target focal focalpixel principal
      + principalpixel sensorsize user
  light: name class directional type castshadow active pos dir bulbradius intensity range attenuation cutoff
      + softness exponent ambient diffuse specular mode target texture
  plugin: plugin instance
    config: key value
  flexcomp: name @pose type group dim dof count cellcount spacing radius rigid mass inertiabox scale file mesh
      + point element texcoord material rgba flatskin origin
    edge: equality solref solimp stiffness damping
    elasticity: young poisson shear damping thickness yield elastic2d section sectionsize
    contact: @flex_contact
    pin: id range grid gridrange
    plugin: plugin instance
      config: key value
deformable:
  flex: name group dim radius material rgba flatskin body vertex element texcoord elemtexcoord node nodecoord
      + cellcount dof
    contact: @flex_contact
    edge: stiffness damping
    elasticity: young poisson shear damping thickness yield elastic2d section sectionsize
  skin: name file material rgba inflate vertex texcoord face group
    bone: body bindpos bindquat vertid vertweight
contact:
  pair: name class geom1 geom2 condim friction solref solreffriction solimp gap margin adhesion
  exclude: name body1 body2
equality:
  connect: name class active solref solimp body1 body2 anchor site1 site2
  weld: name class active solref solimp body1 body2 relpose anchor site1 site2 torquescale
  joint: name class active solref solimp joint1 joint2 polycoef
  tendon: name class active solref solimp tendon1 tendon2 polycoef
  flex: name class active solref solimp flex
  flexstrain: name class active solref solimp flex cell
tendon:
  spatial: name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit
      + solreffriction solimpfriction frictionloss springlength springyield width material margin stiffness
      + damping armature rgba user
    site: site
    geom: geom sidesite
    pulley: divisor
  fixed: name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit solreffriction
      + solimpfriction frictionloss springlength springyield margin stiffness damping armature user
    joint: joint coef
actuator:
  general: name @actuator @transmission ctrllimited actlimited actrange lengthrange body actdim input velrange
      + ffrange inheritrange dyntype gaintype biastype dynprm gainprm biasprm actearly
  motor: name @actuator @transmission ctrllimited lengthrange
  position: name @actuator @transmission ctrllimited inheritrange lengthrange kp kv dampratio timeconst
  velocity: name @actuator @transmission ctrllimited lengthrange kv
  intvelocity: name @actuator @transmission ctrllimited actlimited actrange inheritrange lengthrange kp kv
      + dampratio
  orientation: name @actuator joint site refsite kp kv dampratio input
  pid: name @actuator @transmission ctrllimited posrange velrange ffrange inheritrange lengthrange kp kv dampratio
      + ki imax slewmax input
  damper: name @actuator @transmission lengthrange kv
  cylinder: name @actuator @transmission ctrllimited lengthrange timeconst area diameter bias
  muscle: name @actuator @mechanics ctrllimited lengthrange joint jointinparent tendon slidersite cranksite
      + timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax
  adhesion: name @actuator body gain
  dcmotor: name @transmission class group nsample interp delay ctrlrange user ctrllimited lengthrange motorconst
      + resistance nominal saturation inductance cogging controller thermal lugre input
  plugin: name @actuator @mechanics plugin instance ctrllimited actlimited actrange lengthrange joint
      + jointinparent site actdim dyntype dynprm tendon cranksite slidersite actearly
    config: key value
sensor:
  touch accelerometer velocimeter gyro force torque magnetometer: @sensor site
  camprojection: @sensor site camera
  rangefinder: @sensor site camera data
  jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc: @sensor joint
  tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc: @sensor tendon
  actuatorpos actuatorvel actuatorfrc: @sensor actuator
  framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel: @sensor @objects
  framelinacc frameangacc: @sensor objtype objname
  subtreecom subtreelinvel subtreeangmom: @sensor body
  insidesite: @sensor site objtype objname enclosed
  distance normal fromto: @sensor geom1 geom2 body1 body2
  contact: @sensor geom1 geom2 body1 body2 subtree1 subtree2 site num data reduce
  e_potential e_kinetic clock: @sensor
  tactile: name geom mesh nsample interp delay interval cutoff user
  user: name objtype objname datatype needstage dim cutoff noise user
  plugin: name @objects plugin instance cutoff user
    config: key value
keyframe:
  key: name time qpos qvel act mpos mquat ctrl plastic
visual:
  global: cameraid orthographic fovy ipd azimuth elevation linewidth glow offwidth offheight realtime
      + ellipsoidinertia bvactive
  quality: shadowsize offsamples numslices numstacks numquads
  headlight: ambient diffuse specular active
  map: stiffness stiffnessrot force torque alpha fogstart fogend znear zfar haze shadowclip shadowscale
      + actuatortendon
  scale: forcewidth contactwidth contactheight connect com camera light selectpoint jointlength jointwidth
      + actuatorlength actuatorwidth framelength framewidth constraint slidercrank frustum
  rgba: fog haze force inertia joint actuator actuatornegative actuatorpositive com camera light selectpoint
      + connect contactpoint contactforce contactfriction contacttorque contactgap rangefinder constraint
      + slidercrank crankbroken frustum bv bvactive
default: class
  mesh: scale maxhullvert inertia
  texture: type colorspace gridsize gridlayout builtin rgb1 rgb2 mark markrgb random width height hflip vflip
      + nchannel embed
  material: texture texrepeat texuniform emission specular shininess reflectance metallic roughness rgba
    layer: texture role
  joint: type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit solreffriction
      + solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref springref springyield armature
      + damping frictionloss user
  geom: @pose type contype conaffinity condim group priority size material friction mass density shellinertia
      + solmix solref solimp margin gap surfacevel adhesion fromto hfield mesh fitscale rgba castshadow fluidshape
      + fluidcoef user
  site: @pose type group material mesh size fromto rgba user
  camera: @pose projection fovy ipd resolution output mode focal focalpixel principal principalpixel sensorsize
      + user
  light: directional type castshadow active pos dir bulbradius intensity range attenuation cutoff softness
      + exponent ambient diffuse specular mode
  pair: condim friction solref solreffriction solimp gap margin adhesion
  equality: active solref solimp
  tendon: group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit solreffriction
      + solimpfriction frictionloss springlength springyield width material margin stiffness damping armature rgba
      + user
  general: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited forcerange
      + actrange actdim input velrange ffrange inheritrange dyntype gaintype biastype dynprm gainprm biasprm
      + actearly
  motor: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange
  position: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited inheritrange forcerange
      + kp kv dampratio timeconst
  velocity: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange kv
  intvelocity: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited forcerange
      + actrange inheritrange kp kv dampratio
  orientation: group nsample interp delay ctrlrange user forcelimited forcerange kp kv dampratio input
  pid: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited posrange velrange ffrange
      + forcerange inheritrange kp kv dampratio ki imax slewmax input
  damper: @mechanics group nsample interp delay ctrlrange user forcelimited forcerange kv
  cylinder: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange timeconst
      + area diameter bias
  muscle: @mechanics group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange timeconst range
      + force scale lmin lmax vmax fpmax fvmax
  adhesion: group nsample interp delay ctrlrange user forcelimited forcerange gain
  dcmotor: @mechanics group nsample interp delay ctrlrange user ctrllimited motorconst resistance nominal
      + saturation inductance cogging controller thermal lugre input
custom:
  numeric: name size data
  text: name data
  tuple: name
    element: objtype objname prm
extension:
  plugin: plugin
    instance: name
      config: key value
"""

_BODIES = ("body", "frame", "replicate", "worldbody")
"""Elements that hold bodies and their parts, and each other."""


def _shapes() -> dict[str, Shape]:
    """The shape of each element, by its path, such as "default/geom"; bodies are "body" wherever they are."""
    attributes: dict[str, list[str]] = {"": ["model"]}
    path: list[str] = []
    names: list[str] = []
    for line in _OUTLINE.strip("\n").splitlines():
        text = line.strip()
        if text.startswith("+ "):
            words = text[2:]
        else:
            tags, _, words = text.partition(":")
            depth = (len(line) - len(line.lstrip())) // 2
            names = ["/".join([*path[:depth], tag]) for tag in tags.split()]
            path = [*path[:depth], tags.split()[-1]]
        for name in names:
            attributes.setdefault(name, []).extend(_expanded(words))
    children: dict[str, dict[str, str]] = {name: {"include": "include"} for name in attributes}
    for name in attributes:
        if name:
            above, _, tag = name.rpartition("/")
            children[above][tag] = name
    children["default"]["default"] = "default"
    children[""] |= {"worldbody": "worldbody"}
    del children[""]["body"]
    for tag in ("frame", "replicate", "body"):
        children["body"][tag] = tag
    attributes |= {
        "frame": ["name", "childclass", "scale", "scaling", "massscale", *_GROUPS["pose"].split()],
        "replicate": ["count", "offset", "euler", "sep", "childclass"],
        "worldbody": [],
        "include": ["file"],
    }
    shapes = {name: Shape(children.get(name, {}), frozenset(known)) for name, known in attributes.items()}
    for tag in _BODIES[1:]:
        shapes[tag] = Shape(children["body"], shapes[tag].attributes)
    shapes["mujoco"] = shapes.pop("")
    return shapes


def _expanded(words: str) -> list[str]:
    names = []
    for word in words.split():
        names += _GROUPS[word[1:]].split() if word.startswith("@") else [word]
    return names


SHAPES = _shapes()
